"""Real sentence-transformers models of a few thousand random weights: they mean nothing, and are loaded, exported
and told apart like any other."""

from pathlib import Path
from typing import Any

QUERY, PASSAGE = "query: ", "passage: "
INSTRUCTION = "Instruct: find passages that answer the question\nQuery: "


def role_model(
    folder: Path, *, dimension: int = 32, seed: int = 1, pooling: str = "mean", include_prompt: bool = True
) -> Path:
    """A BERT of one layer with a prompt for each role, as E5 has them; ``pooling`` mean or cls."""
    import torch
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    tokenizer = _tokenizer(padding_side="right", closing="[CLS] $A [SEP]")
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=dimension,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * dimension,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertModel(config).eval().save_pretrained(folder / "raw")
    tokenizer.save_pretrained(folder / "raw")
    transformer = Transformer(str(folder / "raw"))
    pool = Pooling(dimension, pooling_mode=pooling, include_prompt=include_prompt)
    return _saved([transformer, pool, Normalize()], folder, {"query": QUERY, "passage": PASSAGE})


def instruction_model(folder: Path, *, dimension: int = 32, seed: int = 1) -> Path:
    """The interface of Qwen3-Embedding: decoder, padding on the left, last token, an instruction for questions only."""
    import torch
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
    from transformers import Qwen3Config, Qwen3Model

    torch.manual_seed(seed)
    tokenizer = _tokenizer(padding_side="left", closing="$A [SEP]")
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=dimension,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=dimension // 2,
        intermediate_size=2 * dimension,
        max_position_embeddings=64,
        initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id,
    )
    Qwen3Model(config).eval().save_pretrained(folder / "raw")
    tokenizer.save_pretrained(folder / "raw")
    modules = [Transformer(str(folder / "raw")), Pooling(dimension, pooling_mode="lasttoken"), Normalize()]
    return _saved(modules, folder, {"query": INSTRUCTION, "document": ""})


def _saved(modules: list[Any], folder: Path, prompts: dict[str, str]) -> Path:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(modules=modules, prompts=prompts, device="cpu")
    model.save_pretrained(str(folder / "model"), create_model_card=False)
    return folder / "model"


def _tokenizer(*, padding_side: str, closing: str) -> Any:
    """Letters and a few words; 64 tokens at most."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    letters = "abcdefghijklmnopqrstuvwxyzäöüß0123456789.,:?!-+"
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters), "the", "tea", "query", "passage", "pump"]
    backend = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(piece, pieces.index(piece)) for piece in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single=closing, special_tokens=ends)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
        padding_side=padding_side,
    )
