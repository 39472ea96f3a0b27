# Targets that are no paths are commands.
.PHONY: $(shell sed -nE 's/^([a-z-]+):.*/\1/p' Makefile)
.DEFAULT_GOAL := help

# The lab is a module of its own: who imports lastword needs none of its libraries.
LAB = testkit/lab
# What takes more than a line of shell, as a program.
CHORE = bin/chore
MODULE = github.com/seed889630bf/lastword

GO = $(shell awk '$$1 == "go" { print $$2 }' go.mod)

ALL =

# Those whose text begins with ##+ are for CI and for releases.
help: ## Print this list; ALL=1 adds the targets that few people need
	@awk -F ':.*##[+]? ' '/^[a-z-]+:.*## / || "$(ALL)" != "" && /^[a-z-]+:.*##[+] / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# go.mod requires a version of Go; go itself says so where it is older.
go:
	@go env GOVERSION >/dev/null || { echo "Go $(GO) or newer is needed: install it from https://go.dev/dl/" >&2; exit 1; }

$(CHORE): go always
	@go -C $(LAB) build -o $(CURDIR)/$@ ./chore

# The race detector needs a C compiler, and some tests need git.
tools: $(CHORE)
	@$(CHORE) install cc=gcc,libc6-dev git=git

node: $(CHORE)
	@$(CHORE) node 20

# CI sets it to -short, and make nightly leaves nothing out.
SHORT =

# A race may show for 50 ms after the last test, and not for a second: hundreds of programs end in these tests. make lint vets.
RACE = CGO_ENABLED=1 GORACE=atexit_sleep_ms=50

# One package builds the binary first, which takes minutes where nothing is in the cache.
test: tools ## Run every test with the race detector; on Debian, install gcc and git if they are missing
	$(RACE) go test -race -vet=off -timeout 30m $(SHORT) ./...
	$(RACE) go -C $(LAB) test -race -vet=off -timeout 30m $(SHORT) ./...

race: tools ##+ Run the runtime's tests three times over with the race detector
	$(RACE) go test -race -count=3 ./messages/... ./supervision/... ./actors ./actors/internal/...

lint: go ## Check formatting, vet, staticcheck, modern idioms and go.mod, of the other modules too
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	staticcheck=$$(go tool -n staticcheck) && for module in . $(LAB) $(PACKAGE); do \
		(cd $$module && go vet ./... && $$staticcheck ./... && go fix -diff ./... && go mod tidy -diff) || exit 1; done

# The tests of the lab, built once for all targets of one call of make; they run in the lab's folder.
LAB_TESTS = $(CURDIR)/bin/lab.test
# $(call lab,VARIABLE=VALUE,EXPRESSION,TIME) runs tests.
lab = cd $(LAB) && $(1) $(LAB_TESTS) -test.v $(SHORT:-%=-test.%) -test.run '$(2)' -test.timeout $(3)

$(LAB_TESTS): go always
	@go -C $(LAB) test -c -o $@ .

always:

other-systems: $(LAB_TESTS) ##+ Check the types of everything, tests too, as it is on the systems on which nothing is run
	$(call lab,LASTWORD_SYSTEMS='windows darwin freebsd',^TestOtherSystems$$,10m)

bench: node $(LAB_TESTS) ## Write the table of name, ours, baseline, ratio and goal to docs/scaling.md; medians of five
	$(call lab,LASTWORD_BENCH=1,^Test(BenchTable|ThinLink)$$,60m)

sim: go ## Run the simulation and the model check at full length, up to an hour
	LASTWORD_SIM=1 go test -count=1 -run 'Sim|EveryReader' -timeout 60m -v ./messages ./actors ./internal/plan ./internal/schedule
	LASTWORD_SIM=1 go -C $(LAB) test -count=1 -run '^TestWorlds$$' -timeout 60m ./world

CYCLES = 1000

crash: go ## Kill a loaded server CYCLES times at random moments; nothing that a reader saw is lost
	LASTWORD_CRASH=$(CYCLES) go test -count=1 -run '^TestCrash$$' -timeout 60m -v ./cmd/lastword
	LASTWORD_CRASH=100 go test -count=1 -run '^TestWrapKilled$$' -timeout 60m -v ./cmd/lastword

museum: go ## Put each of thirty public bugs back into the source, break fifteen promises, and require that a test fails
	LASTWORD_MUSEUM=1 go -C $(LAB) test -count=1 -run '^TestMutants$$' -timeout 60m -v ./museum

cluster: $(LAB_TESTS) ##+ Run three servers on three NATS servers; kill, pause, cut off, restart and upgrade one after the other
	$(call lab,LASTWORD_CLUSTER=1,^Test(Cluster|RollingUpgrade)$$,15m)

SAMPLES = .*

quality: node $(LAB_TESTS) ## Generate for thirty repositories and judge the llms.txt of each; SAMPLES='zod|rich' for some of them
	$(call lab,LASTWORD_QUALITY=1,^TestQuality.*/^($(SAMPLES))$$,30m)

conformance: node $(LAB_TESTS) ##+ Run the official conformance suite of MCP against transport/mcp and servers behind it, for both protocols
	$(call lab,LASTWORD_CONFORMANCE=1,^TestConformance$$,20m)

# How long an agent's call takes that outlives the agent's own limits.
SLOW = 70s

clients: node $(LAB_TESTS) ## Follow runs with MCP clients, curl, a browser and npm's clients across cut connections, and call npm's servers; needs chromium
	$(call lab,LASTWORD_CLIENTS=1 LASTWORD_SLOW=$(SLOW),^Test(HTTP|Seed|Front|Page|Editor|Webhook|Agent|Driven|Coder|A2A|Busy|Wrap)?Clients(OfServers)?$$,40m)

models: $(LAB_TESTS) ##+ Run the scenarios of docs/models.md against llama-server and ollama, where they are on the PATH, with a tiny model
	$(call lab,LASTWORD_MODELS=1,^TestModelServers$$,20m)

PROXIES = $(CURDIR)/bin/proxies

proxy: $(CHORE) $(LAB_TESTS) ##+ Watch runs through nginx and Caddy as docs/operations has them, and give promtool the alerts; fetches the three from Debian
	@$(CHORE) unpack $(PROXIES) nginx=nginx caddy=caddy prometheus=promtool
	$(call lab,PATH="$$PATH:$(PROXIES)/usr/bin:$(PROXIES)/usr/sbin" LASTWORD_PROXY=1,^Test(Proxy|Alerts)$$,10m)

oracle: go ##+ Compare tokens and secrets with other implementations, and samples of operations with the types of their API
	cd testkit/oracle && go test -count=1 ./...

CASES = .*

page: node $(LAB_TESTS) ## Use the page in Chromium, with the server killed and connections lost; CASES=pictures renews docs/page; needs chromium
	$(call lab,LASTWORD_PAGE='$(CASES)',^TestPage$$,20m)

inspect: node $(LAB_TESTS) ##+ List and call tools with the MCP Inspector's command line
	$(call lab,LASTWORD_INSPECT=1,^TestInspector$$,10m)

raise: node $(CHORE) ##+ Raise the pinned npm packages and Go modules of all gates to the newest, and print what changed
	@$(CHORE) raise $(LAB)

llms: go ## Write llms.txt anew; .ci/run fails where it says other than a newly generated one
	go run ./cmd/lastword generate . --output llms.txt --ref relative --fresh

site: $(CHORE) ##+ Build bin/site from README.md and docs, with each page as Markdown beside it and an llms.txt; needs mkdocs-material
	@$(CHORE) site

cast: $(CHORE) build ##+ Record the demo of the README anew as docs/demo/demo.cast; port 7878 must be free
	@$(CHORE) cast $(BINARY) docs/demo/demo.cast

FUZZTIME = 20s

fuzz: $(CHORE) ## Fuzz every target for FUZZTIME each
	@$(CHORE) fuzz $(FUZZTIME)

vuln: $(CHORE) ##+ Look for known vulnerabilities in what is called; VULNDB=FILE is a copy of https://vuln.go.dev/vulndb.zip, or its folder
	@$(CHORE) vuln $(VULNDB)

licences: $(CHORE) ##+ List the modules and packages that the binary holds, and their licences
	@$(CHORE) licences

update: $(CHORE) ## Rewrite the golden files and the generated documents from the code
	$(CHORE) update . $(LAB)

BINARY = bin/lastword
TAGS =

build: go ## Build the static binary bin/lastword; TAGS=nosqlite,nonats leaves the stores out
	CGO_ENABLED=0 go build -trimpath -tags '$(TAGS)' -ldflags '-s -w' -o $(BINARY) ./cmd/lastword

# What makes packages is a module of its own, too.
PACKAGE = cmd/lastword/package
PACKAGER = go -C $(PACKAGE) run . -out $(CURDIR)
VERSION = v0.0.0

release: go ##+ Make all files of a release in dist: make release VERSION=v0.2.0; SIGNING_KEY=FILE signs the digests
	@$(PACKAGER)/dist $(VERSION)

MCPB = npx --yes @anthropic-ai/mcpb@2.1.2

mcpb: node build ##+ Build the bundle of bin/lastword for MCP hosts, bin/lastword-SYSTEM.mcpb; validated by npm's mcpb
	@$(PACKAGER)/bin -binary $(CURDIR)/$(BINARY) $(VERSION) mcpb
	@rm -rf bin/mcpb && $(MCPB) unpack bin/lastword-$$(go env GOOS)-$$(go env GOARCH).mcpb bin/mcpb && $(MCPB) validate bin/mcpb/manifest.json

# An empty Debian, kept for the next time.
DEBIAN = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lastword/debian-$(shell dpkg --print-architecture).tar

$(DEBIAN): | $(CHORE)
	@$(CHORE) debian $@

debian: $(DEBIAN) ##+ Make the empty Debian in which make package-test installs; needs root and debootstrap

package-test: tools build $(DEBIAN) ##+ Install the package of Debian in an empty one, serve, go through the tutorial, purge; needs root, debootstrap and systemd-analyze
	go -C $(PACKAGE) test ./...
	@$(PACKAGER)/bin -binary $(CURDIR)/$(BINARY) $(VERSION) deb
	LASTWORD_DEBIAN=$(DEBIAN) LASTWORD_PACKAGE=$$(ls $(CURDIR)/bin/lastword_$(VERSION:v%=%)_*.deb) CGO_ENABLED=1 go test -race -count=1 -run '^TestPackage$$' -v ./cmd/lastword

release-test: node ##+ Make a release twice and compare all bytes; check its digests and a bundle, and serve from its image
	rm -rf dist/1 dist/2
	for run in 1 2; do $(PACKAGER)/dist/$$run $(VERSION) || exit 1; done
	diff -r dist/1 dist/2
	cd dist/1 && sha256sum --quiet --check SHA256SUMS
	$(MCPB) unpack dist/1/lastword-windows-amd64.mcpb dist/mcpb && $(MCPB) validate dist/mcpb/manifest.json
	LASTWORD_RELEASE=$(CURDIR)/dist/1 go -C $(PACKAGE) test -count=1 -run '^TestImageServes$$' -v .
	rm -rf dist/1 dist/2 dist/mcpb

newcomer: $(DEBIAN) ##+ In an empty Debian with Go and no cache, run the README's two commands, and go install from a tag; needs root
	bash .ci/newcomer $(DEBIAN) $(SHORT)

# CI counts the core with CORE=core; what covers the transports takes three times as long.
CORE =

cover: $(CHORE) ##+ Require that tests cover 90 % of messages, supervision, actors and its journal, 80 % of each transport
	@$(CHORE) cover $(CORE)

nightly: ## Run every check in full, for hours; .ci/run has the smaller forms
	$(MAKE) lint other-systems test race cover
	$(MAKE) quality conformance page inspect cluster proxy
	$(MAKE) clients SLOW=10m
	$(MAKE) oracle package-test release-test newcomer site
	$(MAKE) museum crash sim fuzz
