"""
A llama.cpp server with a tiny model of random numbers, for tests of the wire: what it says means nothing.

The package ``xllamacpp`` holds the server itself, ``gguf`` writes the model files; one is made in a tenth of
a second, and the server is up in less. Run as a program this module is the server.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

WIDTH, LAYERS, HEADS, HIDDEN = 64, 2, 4, 128
CONTEXTS = {"llama": 2048, "bert": 512}
SEED = 11
_SIGNS = "".join(chr(code) for code in range(33, 127))
_RUNNING: dict[str, subprocess.Popen[str]] = {}


class Role(StrEnum):
    """What a server is started for."""

    GENERATE = "generate"
    EMBED = "embed"
    RERANK = "rerank"


@contextmanager
def running(role: Role, folder: Path, *, api_key: str = "", alias: str = "") -> Iterator[str]:
    model = folder / f"{role}.gguf"
    if not model.exists():
        write_model(role, model)
    command = [sys.executable, __file__, role, str(model), api_key, alias]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            assert address, f"the server of {role} did not start"
            _RUNNING[address] = server
            yield address
        finally:
            server.kill()


def write_model(role: Role, path: Path) -> None:
    from gguf import GGUFWriter

    architecture = "llama" if role is Role.GENERATE else "bert"
    writer = GGUFWriter(str(path), architecture)
    writer.add_context_length(CONTEXTS[architecture])
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    (_describe_writer if role is Role.GENERATE else _describe_reader)(writer, role)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe_writer(writer: Any, role: Role) -> None:
    """A language model whose tokens are bytes and signs."""
    import gguf

    specials = ["<unk>", "<s>", "</s>"]
    codes = [f"<0x{byte:02X}>" for byte in range(256)]
    pieces = ["▁", *_SIGNS]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * len(codes) + [gguf.TokenType.NORMAL] * len(pieces)
    tokens = specials + codes + pieces
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * (len(tokens) - len(pieces)) + [-1.0] * len(pieces))
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: ")
    _add_writer_tensors(writer, len(tokens))


def _add_writer_tensors(writer: Any, tokens: int) -> None:
    numbers = _Numbers()
    writer.add_tensor("token_embd.weight", numbers.random(tokens, WIDTH))
    writer.add_tensor("output_norm.weight", numbers.ones(WIDTH))
    writer.add_tensor("output.weight", numbers.random(tokens, WIDTH))
    for block in (f"blk.{layer}." for layer in range(LAYERS)):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}{name}.weight", numbers.ones(WIDTH))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{block}{name}.weight", numbers.random(WIDTH, WIDTH))
        for name in ("ffn_gate", "ffn_up"):
            writer.add_tensor(f"{block}{name}.weight", numbers.random(HIDDEN, WIDTH))
        writer.add_tensor(f"{block}ffn_down.weight", numbers.random(WIDTH, HIDDEN))


def _describe_reader(writer: Any, role: Role) -> None:
    """An encoder whose tokens are signs, beginning a word or within one; for ranking with a head on top."""
    import gguf

    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    signs = [sign for sign in _SIGNS if not sign.isupper()]  # the tokenizer folds case
    tokens = [*specials, *(f"▁{sign}" for sign in signs), *signs]
    kinds = [gguf.TokenType.CONTROL] * len(specials) + [gguf.TokenType.NORMAL] * (2 * len(signs))
    ranks = role is Role.RERANK
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_vocab_size(len(tokens))
    writer.add_pooling_type(gguf.PoolingType.RANK if ranks else gguf.PoolingType.MEAN)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_token_type_count(2)
    for name, token in (("pad", 0), ("unk", 1), ("bos", 2), ("sep", 3), ("eos", 3), ("mask", 4)):
        getattr(writer, f"add_{name}_token_id")(token)
    _add_reader_tensors(writer, len(tokens), ranks)


def _add_reader_tensors(writer: Any, tokens: int, ranks: bool) -> None:
    numbers = _Numbers()
    writer.add_tensor("token_embd.weight", numbers.random(tokens, WIDTH, scale=1.0))
    writer.add_tensor("position_embd.weight", numbers.random(CONTEXTS["bert"], WIDTH, scale=0.02))
    writer.add_tensor("token_types.weight", numbers.random(2, WIDTH, scale=0.02))
    norms = ["token_embd_norm"]
    maps = {}
    for block in (f"blk.{layer}." for layer in range(LAYERS)):
        maps |= {f"{block}attn_{name}": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")}
        maps |= {f"{block}ffn_up": (HIDDEN, WIDTH), f"{block}ffn_down": (WIDTH, HIDDEN)}
        norms += [f"{block}attn_output_norm", f"{block}layer_output_norm"]
    maps |= {"cls": (WIDTH, WIDTH), "cls.output": (1, WIDTH)} if ranks else {}
    for name in norms:
        writer.add_tensor(f"{name}.weight", numbers.ones(WIDTH))
        writer.add_tensor(f"{name}.bias", numbers.zeros(WIDTH))
    for name, (outputs, inputs) in maps.items():
        scale = 0.4 if name.startswith("cls") else 0.05
        writer.add_tensor(f"{name}.weight", numbers.random(outputs, inputs, scale=scale))
        writer.add_tensor(f"{name}.bias", numbers.zeros(outputs))


class _Numbers:
    """float32 arrays, the same ones every time."""

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        self._random = np.random.default_rng(SEED)

    def random(self, *shape: int, scale: float = 0.05) -> Any:
        return (self._random.standard_normal(shape) * scale).astype(self._np.float32)

    def ones(self, length: int) -> Any:
        return self._np.ones(length, self._np.float32)

    def zeros(self, length: int) -> Any:
        return self._np.zeros(length, self._np.float32)


def serve(role: Role, model: str, api_key: str, alias: str) -> None:
    """Serve until killed; the address is the one line on standard output."""
    import time

    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = model
    options.port = 0
    options.n_ctx = CONTEXTS["llama" if role is Role.GENERATE else "bert"]
    options.n_batch = options.n_ubatch = 512
    options.n_parallel = 1
    options.cpuparams.n_threads = 1
    options.warmup = options.ui = False
    options.embedding = role is not Role.GENERATE
    if role is Role.RERANK:
        options.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    if api_key:
        options.api_keys = [api_key]
    if alias:
        options.model_alias = {alias}
    server = xllamacpp.Server(options)
    print(server.listening_address, flush=True)  # noqa: T201 - how the parent learns it
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve(Role(sys.argv[1]), *sys.argv[2:5])
