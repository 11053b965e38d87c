"""Catalogue of the models that can run in this process, and selection of the embedder."""

import logging
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

from clawmem.adapters.models.store import EMBED, GENERATE, RERANK, ModelFolder, require, sha256_of
from clawmem.ports.errors import ClawmemError, ConfigError, InvalidInput, NotFound
from clawmem.ports.models import Embedder, Generator, Reranker

STATIC, BGE_SMALL, MS_MARCO, AUTO = "static", "bge-small", "ms-marco", "auto"


class RemoteFile(NamedTuple):
    """A file at one revision of a repository on huggingface.co, so that its content never changes."""

    repository: str
    revision: str
    path: str
    size: int
    sha256: str


class Reading(NamedTuple):
    """The words that an embedder in ONNX format reads before a question and before a text, and its pooling."""

    is_first: bool = False  # the vector of a text is that of its first token, not the mean of all
    question: str = ""
    text: str = ""


MEAN = Reading()


class PublishedModel(NamedTuple):
    """A model on huggingface.co, for one role; ``dimensions`` is the length of its vectors, 0 if it makes none."""

    name: str
    role: str
    summary: str
    dimensions: int
    files: Mapping[str, RemoteFile]  # by their names in the folder of the model
    reading: Reading = MEAN


# What `models use` installs together, by one word.
SETS = {"better": (BGE_SMALL, MS_MARCO), "multilingual": ("multilingual-e5",)}

_BGE = "Xenova/bge-small-en-v1.5", "ea104dacec62c0de699686887e3f920caeb4f3e3"
_E5 = "Xenova/multilingual-e5-small", "761b726dd34fb83930e26aab4e9ac3899aa1fa78"
_MS_MARCO = "Xenova/ms-marco-MiniLM-L-12-v2", "main"
_BERT_SHA256 = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
PUBLISHED = (
    PublishedModel(
        BGE_SMALL, EMBED, "bge-small-en-v1.5 as int8 ONNX, English, reads 256 tokens (MIT)", 384,
        {
            "model.onnx": RemoteFile(
                *_BGE, "onnx/model_quantized.onnx", 34_014_426,
                "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            ),
            "tokenizer.json": RemoteFile(*_BGE, "tokenizer.json", 711_396, _BERT_SHA256),
        },
        Reading(is_first=True, question="Represent this sentence for searching relevant passages: "),
    ),
    PublishedModel(
        "multilingual-e5", EMBED, "multilingual-e5-small as int8 ONNX, a hundred languages, reads 256 tokens (MIT)", 384,
        {
            "model.onnx": RemoteFile(
                *_E5, "onnx/model_quantized.onnx", 118_308_185,
                "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
            ),
            "tokenizer.json": RemoteFile(
                *_E5, "tokenizer.json", 17_082_730,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
            ),
        },
        Reading(question="query: ", text="passage: "),
    ),
    PublishedModel(
        MS_MARCO, RERANK, "ms-marco-MiniLM-L-12-v2 as int8 ONNX, English, compares answers (Apache-2.0)", 0,
        {
            "model.onnx": RemoteFile(
                *_MS_MARCO, "onnx/model_quantized.onnx", 34_201_341,
                "c5551b3e446396364913c5ad79e9c8411a76d26523b7d87232052ae6c0d0c7fd",
            ),
            "tokenizer.json": RemoteFile(*_MS_MARCO, "tokenizer.json", 711_396, _BERT_SHA256),
        },
    ),
    PublishedModel(STATIC, EMBED, "one stored vector a word", 256, {}),  # a part of every installation
    PublishedModel(
        "embeddinggemma", EMBED,
        "EmbeddingGemma 300M, Q8_0, a hundred languages, reads 2048 tokens (Gemma terms of use)", 768,
        {"model.gguf": RemoteFile(
            "ggml-org/embeddinggemma-300M-GGUF", "0f741b5a6585bd53aeb15cd1372c56f2a0f65e12",
            "embeddinggemma-300M-Q8_0.gguf", 333_590_944,
            "b5ce9d77a3fc4b3b39ccb5643c36777911cc4eb46a66962eadfa3f5f60490d63",
        )},
    ),
    PublishedModel(
        "qmd-query-expansion", GENERATE, "Qwen3 1.7B tuned to rephrase questions, Q4_K_M (MIT)", 0,
        {"model.gguf": RemoteFile(
            "tobil/qmd-query-expansion-1.7B-gguf", "7816de0b72572c6c860ca1eddf97ba9e7fb8cc65",
            "qmd-query-expansion-1.7B-q4_k_m.gguf", 1_282_438_912,
            "000dfb1c06efa6a049e9f64ba921c3740e2454f62abab6fa10e77bd30bb2bcc0",
        )},
    ),
    PublishedModel(
        "qwen3-reranker", RERANK, "Qwen3-Reranker 0.6B, Q8_0 (Apache-2.0)", 0,
        {"model.gguf": RemoteFile(
            "ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF", "a02f48bb4f057028298c21fa033da2b30d7742d5",
            "qwen3-reranker-0.6b-q8_0.gguf", 639_153_184,
            "22c9979ce4fbcdc5acdc310c6641c32797eff1aa980b8f7a2db8a8ea23429a48",
        )},
    ),
)  # fmt: skip


class Model(ModelFolder):
    """
    A published model, or another model of the same role that the user put in its place, in *folder*/name.

    The static vectors have no files: they are a part of clawmem, and are neither added nor removed.
    """

    def __init__(self, published: PublishedModel, folder: Path) -> None:
        """Describe the model without reading its files."""
        super().__init__(folder, published.name)
        self.role = published.role
        self.summary = published.summary
        self.download_bytes = sum(remote.size for remote in published.files.values())
        self._published = published
        self._is_gguf = "model.gguf" in published.files  # which llama.cpp runs; otherwise onnxruntime does

    def is_there(self) -> bool:
        """Whether the model is installed."""
        return self.name == STATIC or super().is_there()

    @property
    def dimensions(self) -> int:
        """Length of its vectors; 0 for a model that produces none."""
        is_own = self.role == EMBED and self.name != STATIC and self.is_there()
        return int(self.manifest().facts["dimensions"]) if is_own else self._published.dimensions

    @property
    def origin(self) -> str:
        """Origin of the files, published or the user's own; empty if the model is not installed."""
        if self.name == STATIC or not self.is_there():
            return "clawmem" if self.name == STATIC else ""
        published = {name: remote.sha256 for name, remote in self._published.files.items()}
        return "published" if self.manifest().files == published else "a file of your own"

    def remove(self) -> None:
        """Delete the model. Raises `InvalidInput` for the static vectors."""
        if self.name == STATIC:
            raise InvalidInput("INVALID_INPUT", f"{STATIC!r} is part of clawmem and cannot be removed.")
        super().remove()

    def add(self, source: Path | None) -> None:
        """
        Install the model from *source*, or download it if *source* is None. Replaces installed files.

        Args:
            source: A GGUF file; for an ONNX model a folder or an archive.

        Raises:
            InvalidInput: the model is part of clawmem.
            ExtraMissing: the packages that run the model are not installed.
            ConfigError: the download failed, or *source* is no such model.
        """
        if self.name == STATIC:
            message = f"{STATIC!r} is part of clawmem. Run: clawmem models use {STATIC}"
            raise InvalidInput("INVALID_INPUT", message)
        from clawmem.adapters.models import llama, local

        require(*(llama.REQUIRED if self._is_gguf else local.REQUIRED))

        def collect(draft: Path) -> Mapping[str, object]:
            if source is None:
                self._download(draft)
            elif not self._is_gguf:
                return local.collect(source, draft, self.role)
            else:
                try:
                    shutil.copyfile(source, draft / llama.MODEL)
                except OSError as error:
                    raise ConfigError(f"{source} cannot be copied: {error.strerror}.") from error
            if self._is_gguf:
                return llama.inspect(draft / llama.MODEL, self.role)
            return local.inspect(draft, self.role)

        self.install(collect)

    def _download(self, draft: Path) -> None:
        """
        Fetch the published files into *draft*; an interrupted download continues the next time.

        Environment variables of huggingface_hub apply: HF_ENDPOINT for a mirror, HF_HUB_OFFLINE, HF_TOKEN.
        """
        require("local" if self._is_gguf else "onnx", "huggingface_hub")
        from huggingface_hub import hf_hub_download

        # Each of its attempts would be a line; the error below is the last one.
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        elsewhere = f"or fetch it elsewhere: clawmem models add {self.name} FILE"
        downloads = self.path.parent / ".downloads" / self.name
        for name, remote in self._published.files.items():
            place = f"{remote.repository}/{remote.path}"
            try:
                path = hf_hub_download(
                    remote.repository,
                    remote.path,
                    revision=remote.revision,
                    local_dir=downloads,
                    endpoint=os.environ.get("HF_ENDPOINT") or None,
                )
            except Exception as error:  # huggingface_hub raises errors of several libraries
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
                raise ConfigError(
                    f"{place} could not be downloaded: {reason}. Repeat to go on where it stopped, {elsewhere}"
                ) from error
            if sha256_of(Path(path)) != remote.sha256:
                shutil.rmtree(downloads, ignore_errors=True)
                raise ConfigError(
                    f"{place} differs from the published file. Nothing was installed. Repeat, {elsewhere}"
                )
            Path(path).replace(draft / name)
        shutil.rmtree(downloads, ignore_errors=True)

    def opened(self) -> Embedder | Generator | Reranker:
        """
        Return the adapter for the model, which loads it with the first request.

        Raises:
            ConfigError: the model is not installed, or its manifest is damaged.
            ExtraMissing: the packages that run it are not installed.
        """
        if self.name == STATIC:
            from clawmem.adapters.models.local import StaticEmbedder

            return StaticEmbedder()
        self.manifest()
        if not self._is_gguf:
            from clawmem.adapters.models.local import OnnxEmbedder, OnnxReranker

            return OnnxEmbedder(self, self._published.reading) if self.role == EMBED else OnnxReranker(self)
        from clawmem.adapters.models import api, llama

        server = llama.LlamaServer(self, self.role)
        if self.role == EMBED:
            return api.ApiEmbedder(server, query_timeout_s=llama.QUERY_TIMEOUT_S)
        return api.ApiGenerator(server) if self.role == GENERATE else api.ApiReranker(server)


class Selection(NamedTuple):
    """The selected model, and the reason for the selection."""

    name: str
    reason: str


def known_models(folder: Path | str) -> list[Model]:
    """Return all models, small ones first; models are installed below *folder*."""
    return [Model(published, Path(folder)) for published in PUBLISHED]


def model_named(name: str, folder: Path | str) -> Model:
    """Return the model *name*. Raises `NotFound` if there is none of that name."""
    models = {model.name: model for model in known_models(folder)}
    if name not in models:
        remark = f"To install what it stands for, run: clawmem models use {name}" if name in SETS else ""
        raise NotFound("model", name, suggestions=SETS.get(name) or sorted(models), remark=remark)
    return models[name]


def selected(wanted: str, folder: Path | str) -> Selection:
    """
    Select the model *wanted*; for ``auto``, bge-small if it is installed and can be loaded, else the static vectors.

    A large model must be selected by name: a question waits about a second until the model is loaded.
    """
    if wanted != AUTO:
        return Selection(wanted, f"embedder: {wanted}")
    transformer = model_named(BGE_SMALL, folder)
    if not transformer.is_there():
        return Selection(STATIC, f"{BGE_SMALL}: not added")
    try:
        transformer.opened()
    except ClawmemError as error:
        return Selection(STATIC, f"{BGE_SMALL}: {error}")
    return Selection(BGE_SMALL, "the best that is there")


def embedder_of(fingerprint: str, folder: Path | str) -> Embedder | None:
    """Return the installed embedder whose vectors have this *fingerprint*, or None."""
    for model in known_models(folder):
        if model.role == EMBED and model.is_there():
            with suppress(ClawmemError):  # its runtime is not installed
                embedder = cast("Embedder", model.opened())
                if embedder.fingerprint == fingerprint:
                    return embedder
    return None
