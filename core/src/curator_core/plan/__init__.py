"""From a pipeline to a plan: composites taken apart, columns and types checked, stages fused into steps."""
