# The lab and its tests, for any machine that runs containers:
#     docker build -t gpu-kernels .
#     docker run --rm -p 127.0.0.1:8888:8888 -v gpu-kernels:/home/learner/course/work gpu-kernels
#     docker run --rm gpu-kernels make test
FROM python:3.12-slim-bookworm AS machine
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends --yes bubblewrap g++ git make \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 --shell /bin/bash learner \
    && install --directory --owner learner --group learner /home/learner/course
USER 1000
WORKDIR /home/learner/course

FROM machine AS made
COPY --chown=learner:learner . .
RUN make setup && .venv/bin/python scripts/work.py && rm -rf .cache/pycuda

FROM machine
COPY --from=made --chown=learner:learner /home/learner/course .
ENV PATH=/home/learner/course/.venv/bin:$PATH
EXPOSE 8888
CMD ["make", "lab", "HEADLESS=1", "ARGS=--ip=0.0.0.0"]
