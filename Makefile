.PHONY: help test race lint bench sim quality conformance clients inspect linear fuzz update build cover
.DEFAULT_GOAL := help

# The race detector needs a C compiler; nothing else of the project does.
INSTALL_CC = $$(test "$$(id -u)" = 0 || echo sudo -n) apt-get install -y -qq gcc libc6-dev >/dev/null 2>&1

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

test: ## Run every test with the race detector; installs a C compiler on Debian if there is none
	@race=-race; command -v $$(go env CC) >/dev/null || $(INSTALL_CC) || \
		{ race=; echo "no C compiler: testing without the race detector" >&2; }; \
	set -x; go test $$race $(PROFILE) ./...

race: ## Run the runtime's tests three times over with the race detector
	go test -race -count=3 ./messages/... ./supervision/... ./actors

lint: ## Check formatting, vet, staticcheck, modern idioms and go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go fix -diff ./...
	go mod tidy -diff

bench: ## Print one table of name, ours, baseline, ratio and goal; medians of five
	LASTWORD_BENCH=1 go test -count=1 -run '^TestBenchTable$$' -timeout 60m -v ./testkit

sim: ## Run the simulation and the model check at full length, up to an hour
	LASTWORD_SIM=1 go test -count=1 -run 'Sim|EveryReader' -timeout 60m -v ./messages ./actors

SAMPLES = .*

quality: ## Generate for eleven real repositories and judge what comes out; SAMPLES='zod|rich' for some of them
	LASTWORD_QUALITY=1 go test -count=1 -run '^TestQuality.*/^($(SAMPLES))$$' -timeout 30m -v ./testkit

conformance: ## Run the official conformance suite of MCP against lastword serve, for both protocols
	LASTWORD_CONFORMANCE=1 go test -count=1 -run '^TestConformance$$' -timeout 20m -v ./testkit

clients: ## Stream, cancel, resume and read with four MCP clients over stdio and HTTP, and count what goes wrong
	LASTWORD_CLIENTS=1 go test -count=1 -run '^TestClients$$' -timeout 10m -v ./testkit

inspect: ## List and call tools with the MCP Inspector's command line
	LASTWORD_INSPECT=1 go test -count=1 -run '^TestInspector$$' -timeout 10m -v ./testkit

linear: ## Try all pairs of tokens of each language, and thousands of drawn texts: no scanner takes more than linear time
	LASTWORD_LINEAR=1 go test -count=1 -run '^TestScannersAreLinear$$' -timeout 180m ./actors/llmstxt/surface

FUZZTIME = 20s

fuzz: ## Fuzz every target for FUZZTIME each
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -rhoE '^func Fuzz[A-Za-z0-9]+' $$pkg/*_test.go | cut -d' ' -f2); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 200x $$pkg || exit 1; \
		done; \
	done

update: ## Rewrite the golden files and the generated documents from the code
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

build: ## Build the static binary bin/lastword
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/lastword ./cmd/lastword

cover: PROFILE = -coverprofile=coverage.out
cover: test ## Run every test and require 85 % coverage of messages, supervision and actors each
	@awk -v least=85 'NR > 1 { pkg = $$1; sub("/[^/]*$$", "", pkg); sub("^[^/]*/[^/]*/[^/]*/", "", pkg); \
		all[pkg] += $$2; if ($$3 > 0) hit[pkg] += $$2 } \
	END { n = split("messages supervision actors", want, " "); \
		for (i = 1; i <= n; i++) { p = want[i]; pct = all[p] ? 100 * hit[p] / all[p] : 0; \
			printf "%-12s %5.1f %% covered, %d %% required\n", p, pct, least; if (pct < least) low = 1 } \
		exit low }' coverage.out
