# The commands of a day's work; everything real is in CMakeLists.txt and scripts/.

PREFIX ?= /usr/local

.PHONY: build demo test bench validate format lint install clean

build:
	@scripts/build release weir_cli

demo:
	@scripts/bootstrap build
	@scripts/build release weir_cli
	@scripts/demo

test:
	@scripts/bootstrap test
	@scripts/build sanitize
	@ctest --preset sanitize -j $$(nproc)

bench: build
	@bench/run
	@bench/fluid
	@bench/train

validate: build
	@scripts/with-data tools/validate-training --cross --brief
	@scripts/with-data tools/accuracy
	@scripts/with-data tools/validate-collectives --over

format:
	@scripts/format

lint:
	@scripts/bootstrap lint
	@scripts/lint

install:
	@scripts/build release weir_cli weir_library documents
	@cmake --install build/release --prefix $(PREFIX)

clean:
	@rm -rf build
