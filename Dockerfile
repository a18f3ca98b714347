# gode in a container, which runs as the user 1000: the folder must be writable for it.
#   docker build -t gode .
#   docker run --rm -v "$PWD:/data" gode discover growth.csv --out result
# The page listens on the loopback address alone, so on Linux it needs the network of the host:
#   docker run --rm --network host -v "$PWD:/data" gode studio --no-browser
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN wheel=$(ls /wheels/gode_engine-*.whl) \
 && pip install --no-cache-dir "$wheel[files,studio]" && rm -r /wheels \
 && useradd --create-home gode
USER gode
# Compiling the numerical core once, here, saves twenty seconds at each start.
RUN cd ~ && gode demo --out demo && rm -r demo
WORKDIR /data
ENTRYPOINT ["gode"]
CMD ["--help"]
