"""Small speech models with random weights, as transformers saves them."""

import json

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def whisper_model(folder):
    """Write a model that writes text: two layers of the kind of Whisper, with a tokenizer of letters."""
    torch.manual_seed(0)
    vocabulary = {
        "<|endoftext|>": 0,
        "<|startoftranscript|>": 1,
        **{letter: 2 + at for at, letter in enumerate(LETTERS)},
    }
    tokenizer = Tokenizer(models.BPE(vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|endoftext|>",
        bos_token="<|startoftranscript|>",
        pad_token="<|endoftext|>",
    ).save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=20, chunk_length=2).save_pretrained(folder)
    config = transformers.WhisperConfig(
        vocab_size=len(vocabulary), num_mel_bins=20, max_source_positions=100, max_target_positions=16, d_model=16,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, decoder_start_token_id=1, bos_token_id=1, eos_token_id=0, pad_token_id=0,
        suppress_tokens=None, begin_suppress_tokens=None, init_std=1.0,
    )  # fmt: skip
    model = transformers.WhisperForConditionalGeneration(config)
    model.generation_config = transformers.GenerationConfig(
        decoder_start_token_id=1, bos_token_id=1, eos_token_id=0, pad_token_id=0, max_new_tokens=8
    )
    model.save_pretrained(folder)
    return str(folder)


def ctc_model(folder, *, masks=True):
    """Write a model that labels frames: one layer of the kind of wav2vec 2.0, with a tokenizer of letters."""
    torch.manual_seed(0)
    vocabulary = {
        "<pad>": 0,
        "<s>": 1,
        "</s>": 2,
        "<unk>": 3,
        "|": 4,
        **{letter: 5 + at for at, letter in enumerate(LETTERS)},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    transformers.Wav2Vec2CTCTokenizer(str(folder / "vocab.json")).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(return_attention_mask=masks).save_pretrained(folder)
    config = transformers.Wav2Vec2Config(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        conv_dim=(16, 16), conv_stride=(20, 16), conv_kernel=(20, 16), num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2, feat_extract_norm="layer" if masks else "group", do_stable_layer_norm=masks,
        initializer_range=1.0, mask_time_prob=0.0, pad_token_id=0,
    )  # fmt: skip
    transformers.Wav2Vec2ForCTC(config).save_pretrained(folder)
    return str(folder)
