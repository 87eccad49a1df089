# Grades predictions in a folder, without a network:
#   docker build -t scbench .
#   docker run --rm --network none -v "$PWD:/work" scbench predictions.jsonl --out results
FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --constraint constraints.txt --wheel-dir /wheels ".[report,terrain]"

FROM python:3.11-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "scbench[report,terrain]" \
    && useradd --uid 1000 --create-home grader
USER grader
WORKDIR /work
ENTRYPOINT ["scbench-grade"]
CMD ["--help"]
