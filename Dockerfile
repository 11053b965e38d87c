# The server over a folder of notes: docs/install.md. Built for amd64 and arm64 by buildx.
FROM python:3.13-slim AS build
COPY --from=ghcr.io/astral-sh/uv:0.9 /uv /usr/local/bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/opt/clawmem
WORKDIR /source
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --no-install-project
COPY . .
# The version of the image, such as 0.1.0; there is no git in here to ask.
ARG VERSION=
RUN SETUPTOOLS_SCM_PRETEND_VERSION="$VERSION" uv sync --frozen --no-dev --no-editable

FROM python:3.13-slim
RUN useradd --uid 1000 --create-home clawmem && install --directory --owner=clawmem --group=clawmem /vault /notes
COPY --from=build /opt/clawmem /opt/clawmem
ENV PATH=/opt/clawmem/bin:$PATH \
    INDEX_PATH=/vault/index.sqlite \
    CLAWMEM_CONFIG_DIR=/vault/config \
    XDG_DATA_HOME=/vault/data
USER clawmem
VOLUME ["/vault", "/notes"]
EXPOSE 7438
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["clawmem", "serve", "--status"]
ENTRYPOINT ["clawmem"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7438"]
