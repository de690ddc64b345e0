"""What stages, readers, writers, workflows and commands are written with: the surface for authors of plugins.

Everything that is not here, in :mod:`curator_core`, :mod:`curator_core.specs` or :mod:`curator_core.hookspecs` is
private and may change without notice. Importing this module only defines names; each is loaded from its module when
first used. A name is added here and, for type checkers, in ``sdk.pyi``.
"""

from __future__ import annotations

from curator_core.values.lazy_names import lazy_names

_HOMES = {
    "authoring.array_series": ("array_series",),
    "authoring.file_keys": ("extension_of_uri", "keys_of_rows"),
    "authoring.file_reader": ("FileReader", "is_composite"),
    "authoring.file_writer": ("FileWriter",),
    "authoring.folder_reader": ("BYTES_COLUMN", "FolderReader", "SIZE_COLUMN", "URI_COLUMN"),
    "authoring.list_files": ("ListFiles", "report_refused"),
    "authoring.own_output": ("check_own_output",),
    "authoring.provenance": ("own_name", "PROVENANCE_COLUMNS", "with_provenance"),
    "authoring.row_files": ("row_files", "RowFile"),
    "authoring.splitting": ("plan_slices",),
    "cli.terminal": ("paint", "print_data", "print_json", "print_message"),
    "authoring.column_bytes": ("column_bytes", "ColumnBytes"),
    "parameters.params": ("build_stage", "parameter_values"),
    "parameters.signature": ("parameters_of",),
    "authoring.derived": ("derived", "known_of"),
    "values.errors": (
        "ConfigError",
        "CuratorError",
        "DataError",
        "LocationError",
        "MissingPackageError",
        "PluginError",
        "StageError",
        "UnknownNameError",
    ),
    "executors.base": ("Executor",),
    "files.atomic": ("atomic_output", "make_folder"),
    "files.compression": ("COMPRESSED_EXTENSIONS", "Compression", "compression_of", "open_compressed", "zstd_module"),
    "files.decoders": ("decode_errors",),
    "files.decompression": ("Decompressor", "ListedSize", "StreamError"),
    "files.filesystems": ("full_url", "is_local", "is_transient", "open_filesystem", "open_slice"),
    "files.limits": ("DEFAULT_BLOCK_BYTES", "Limits"),
    "files.locations": ("check_allowed_locations", "check_location", "is_below"),
    "files.parts": ("part_name", "remove_parts"),
    "files.paths": ("FileEntry", "list_files"),
    "authoring.filter": ("check_range", "Filter", "MISSING_VALUE", "Verdict"),
    "authoring.function_stage": ("MadeOfFunction", "processing_stage"),
    "authoring.row_functions": ("row_filter", "row_map"),
    "values.histogram": ("Histogram",),
    "authoring.kernel_cache": ("inlined", "KernelCache"),
    "values.lazy_names": ("lazy_names",),
    "run.ledger.resume": ("Resume",),
    "run.line": ("open_line", "StageLine"),
    "authoring.models.model_folder": ("check_model_name", "find_model_folder"),
    "authoring.models.model_stage": ("ModelStage",),
    "authoring.models.pretrained": ("load_pretrained", "LoadSettings", "quiet_transformers"),
    "authoring.models.torch_device": ("Precision",),
    "pipelines.pipeline": ("Pipeline",),
    "authoring.recording": ("BadRecord", "Recording", "report"),
    "values.redaction": ("MASK", "redact"),
    "registry.catalogue": ("Registry",),
    "registry.declarations": ("DECLARATIONS",),
    "registry.loading": ("HEAVY_MODULES",),
    "registry.plugin_info": ("official_distribution", "PluginInfo"),
    "registry.registered": ("RegisteredStage",),
    "values.resources": ("Resources",),
    "run.result": ("RunResult",),
    "authoring.row_outcomes": ("add_attributes", "keep_readable", "refuse_rows"),
    "authoring.stage": (
        "Columns",
        "columns_of",
        "CompositeStage",
        "FinishedRun",
        "NodeInfo",
        "ProcessingStage",
        "WorkerInfo",
    ),
    "authoring.stage_types": ("task_types",),
    "authoring.tasks": (
        "concat_tables",
        "EmptyTask",
        "FileGroupTask",
        "FileSlice",
        "ROW_COLUMN",
        "SOURCE_COLUMN",
        "TableBatch",
        "Task",
    ),
    "pipelines.workflow": ("Watch", "Workflow", "WorkflowResult", "WorkflowStep"),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
