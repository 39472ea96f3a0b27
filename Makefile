.PHONY: help test race lint debian other-systems bench sim crash museum cluster quality conformance clients models page oracle proxy inspect llms site fuzz vuln licences update build release mcpb package-test release-test cover nightly go tools node
.DEFAULT_GOAL := help

# The lab is a module of its own: who imports lastword needs none of its libraries.
LAB = testkit/lab
MODULE = github.com/seed889630bf/lastword

GO = $(shell awk '$$1 == "go" { print $$2 }' go.mod)
NODE = 20
APT = $$(test "$$(id -u)" = 0 || echo sudo -n) apt-get

ALL =

# Those whose text begins with ##+ are for CI and for releases.
help: ## Print this list; ALL=1 adds the targets that few people need
	@awk -F ':.*##[+]? ' '/^[a-z-]+:.*## / || "$(ALL)" != "" && /^[a-z-]+:.*##[+] / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# The version of Go must be that of go.mod, or newer.
go:
	@have=$$(go env GOVERSION 2>/dev/null | sed 's/^go//'); \
	test "$$(printf '%s\n' $(GO) "$${have:-0}" | sort -V | head -n 1)" = $(GO) || \
		{ echo "Go $(GO) or newer is needed, and $${have:-none} was found: install it from https://go.dev/dl/" >&2; exit 1; }

# The race detector needs a C compiler, and some tests need git.
tools: go
	@cc=$$(go env CC); missing=$$(command -v $${cc%% *} >/dev/null || echo gcc libc6-dev; command -v git >/dev/null || echo git); \
	test -z "$$missing" || { echo "The tests need" $$missing "- installing with apt-get." >&2; \
		$(APT) update -qq && $(APT) install -y -qq --no-install-recommends $$missing; } || \
		{ echo "Install" $$missing "and run make again." >&2; exit 1; }

node: go
	@have=$$(node --version 2>/dev/null); have=$${have#v}; \
	{ test "$${have%%.*}" -ge $(NODE) && command -v npm; } >/dev/null 2>&1 || \
		{ echo "Node $(NODE) or newer with npm is needed, and $${have:-none} was found: install it from https://nodejs.org/" >&2; exit 1; }

# CI sets it to -short, and make nightly leaves nothing out.
SHORT =

# A race may show for 50 ms after the last test, and not for a second: hundreds of programs end in these tests. make lint vets.
RACE = CGO_ENABLED=1 GORACE=atexit_sleep_ms=50

test: tools ## Run every test with the race detector; on Debian, install gcc and git if they are missing
	$(RACE) go test -race -vet=off $(SHORT) ./...
	$(RACE) go -C $(LAB) test -race -vet=off $(SHORT) ./...

race: tools ##+ Run the runtime's tests three times over with the race detector
	$(RACE) go test -race -count=3 ./messages/... ./supervision/... ./actors

lint: go ## Check formatting, vet, staticcheck, modern idioms and go.mod, of the other modules too
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go fix -diff ./...
	go mod tidy -diff
	staticcheck=$$(go tool -n staticcheck) && for module in $(LAB) $(PACKAGE); do \
		(cd $$module && go vet ./... && $$staticcheck ./... && go fix -diff ./... && go mod tidy -diff) || exit 1; done

# The tests of the lab, built once for all targets of one call of make; they run in the lab's folder.
LAB_TESTS = $(CURDIR)/bin/lab.test
LAB_TEST = $(LAB_TESTS) -test.v $(SHORT:-%=-test.%)

$(LAB_TESTS): go always
	@go -C $(LAB) test -c -o $@ .

.PHONY: always
always:

other-systems: $(LAB_TESTS) ##+ Check the types of everything, tests too, as it is on the systems on which nothing is run
	cd $(LAB) && LASTWORD_SYSTEMS='windows darwin freebsd' $(LAB_TEST) -test.run '^TestOtherSystems$$'

bench: node $(LAB_TESTS) ## Print one table of name, ours, baseline, ratio and goal; medians of five
	cd $(LAB) && LASTWORD_BENCH=1 $(LAB_TEST) -test.run '^TestBenchTable$$' -test.timeout 60m

sim: go ## Run the simulation and the model check at full length, up to an hour
	LASTWORD_SIM=1 go test -count=1 -run 'Sim|EveryReader' -timeout 60m -v ./messages ./actors ./actors/plan
	LASTWORD_SIM=1 go -C $(LAB) test -count=1 -run '^TestWorlds$$' -timeout 60m ./world

CYCLES = 1000

crash: go ## Kill a loaded server CYCLES times at random moments; nothing that a reader saw is lost
	LASTWORD_CRASH=$(CYCLES) go test -count=1 -run '^TestCrash$$' -timeout 60m -v ./cmd/lastword

museum: go ## Put each of thirty public bugs back into the source, and require that its test fails
	LASTWORD_MUSEUM=1 go -C $(LAB) test -count=1 -run '^TestMutants$$' -timeout 60m -v ./museum

cluster: $(LAB_TESTS) ##+ Run three servers on three NATS servers; kill, pause, cut off, restart and upgrade one after the other
	cd $(LAB) && LASTWORD_CLUSTER=1 $(LAB_TEST) -test.run '^Test(Cluster|RollingUpgrade)$$' -test.timeout 15m

SAMPLES = .*

quality: node $(LAB_TESTS) ## Generate for thirty repositories and judge the llms.txt of each; SAMPLES='zod|rich' for some of them
	cd $(LAB) && LASTWORD_QUALITY=1 $(LAB_TEST) -test.run '^TestQuality.*/^($(SAMPLES))$$' -test.timeout 30m

conformance: node $(LAB_TESTS) ##+ Run the official conformance suite of MCP against transport/mcp, for both protocols
	cd $(LAB) && LASTWORD_CONFORMANCE=1 $(LAB_TEST) -test.run '^TestConformance$$' -test.timeout 20m

clients: node $(LAB_TESTS) ## Follow runs with MCP clients, curl, a browser and npm's clients across cut connections, and call npm's servers; needs chromium
	cd $(LAB) && LASTWORD_CLIENTS=1 $(LAB_TEST) -test.run '^Test(HTTP|Seed|Front|Page|Editor|Webhook|Agent|A2A)?Clients(OfServers)?$$' -test.timeout 20m

models: $(LAB_TESTS) ##+ Run the scenarios of docs/models.md against llama-server and ollama, where they are on the PATH, with a tiny model
	cd $(LAB) && LASTWORD_MODELS=1 $(LAB_TEST) -test.run '^TestModelServers$$' -test.timeout 20m

PROXIES = $(CURDIR)/bin/proxies

# The programs are unpacked and not installed: a package of a server would start it.
proxy: $(LAB_TESTS) ##+ Watch runs through nginx and Caddy as docs/operations has them, and give promtool the alerts; fetches the three from Debian
	@mkdir -p $(PROXIES) && cd $(PROXIES) && for pair in nginx:nginx caddy:caddy prometheus:promtool; do \
		command -v $${pair#*:} >/dev/null || test -e usr/*bin/$${pair#*:} || { apt-get download -qq $${pair%:*} && dpkg-deb -x $${pair%:*}_*.deb . && rm $${pair%:*}_*.deb; } || exit 1; done
	cd $(LAB) && PATH="$$PATH:$(PROXIES)/usr/bin:$(PROXIES)/usr/sbin" LASTWORD_PROXY=1 $(LAB_TEST) -test.run '^Test(Proxy|Alerts)$$' -test.timeout 10m

oracle: go ##+ Compare tokens and secrets with other implementations, and samples of operations with the types of their API
	cd testkit/oracle && go test -count=1 ./...

CASES = .*

page: node $(LAB_TESTS) ## Use the page in Chromium, with the server killed and connections lost; CASES=pictures renews docs/page; needs chromium
	cd $(LAB) && LASTWORD_PAGE='$(CASES)' $(LAB_TEST) -test.run '^TestPage$$' -test.timeout 20m

inspect: node $(LAB_TESTS) ##+ List and call tools with the MCP Inspector's command line
	cd $(LAB) && LASTWORD_INSPECT=1 $(LAB_TEST) -test.run '^TestInspector$$' -test.timeout 10m

llms: go ## Write llms.txt anew; .ci/run fails where it says other than a newly generated one
	go run ./cmd/lastword generate . --output llms.txt --ref relative --fresh

# Debian's mkdocs-material has the generator and its theme. What the pages link to beside pages is at the repository.
site: go ##+ Build bin/site from README.md and docs, with each page as Markdown beside it and an llms.txt; needs mkdocs-material
	rm -rf bin/pages && mkdir -p bin/pages
	find *.md LICENSE docs -name '*.md' -o -name LICENSE | xargs cp --parents -t bin/pages
	go run ./cmd/lastword generate bin/pages --output bin/pages/llms.txt --ref relative --fresh --quiet
	cp -r docs bin/pages
	sed -i -E 's#\]\((\.\./)?((actors|cmd|messages|supervision|testkit|transport)[^):]*)\)#](https://$(MODULE)/tree/main/\2)#g' bin/pages/*.md bin/pages/docs/*.md
	mkdocs build --quiet --strict --config-file docs/mkdocs.yml
	cd bin/pages && find . -name '*.md' -exec cp --parents '{}' ../site ';'
	go run ./cmd/lastword check bin/site/llms.txt

FUZZTIME = 20s

# Making each new input smaller took nearly all of the time: of archives 10 were tried in 20 s.
fuzz: go ## Fuzz every target for FUZZTIME each
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for target in $$(grep -rhoE '^func Fuzz[A-Za-z0-9]+' $$pkg/*_test.go | cut -d' ' -f2); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; \
		done; \
	done

vuln: go ##+ Look for known vulnerabilities in what is called; fails where the database at vuln.go.dev cannot be reached
	@vuln=$$(go -C $(LAB) tool -n govulncheck) && $$vuln ./...; code=$$?; \
	test $$code = 0 -o $$code = 3 || echo "Nothing is known: https://vuln.go.dev could not be asked." >&2; exit $$code

licences: go ##+ List the modules and packages that the binary holds, and their licences
	@go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/lastword | sort -u | \
	while read -r module version dir; do \
		text=$$(cat "$$dir/$$(ls "$$dir" | grep -iE '^(licen[cs]e|copying)' | head -n 1)" | tr -s '[:space:]' ' '); \
		case "$$text" in \
			*'Apache License'*) licence=Apache-2.0 ;; \
			*'Mozilla Public License'*) licence=MPL-2.0 ;; \
			*'Permission is hereby granted, free of charge'*) licence=MIT ;; \
			*'Permission to use, copy, modify, and'*) licence=ISC ;; \
			*'Neither the name'*) licence=BSD-3-Clause ;; \
			*'Redistribution and use in source'*) licence=BSD-2-Clause ;; \
			*) echo "$$module $$version: the licence is not known" >&2; exit 1 ;; \
		esac; \
		printf '%-14s %s %s\n' "$$licence" "$$module" "$$version"; \
	done
	@echo 'MIT            npm: preact, @preact/signals and marked, in the page'

update: go ## Rewrite the golden files and the generated documents from the code
	@for module in . $(LAB); do \
		(cd $$module && go test $$(grep -rl --include='*_test.go' --exclude-dir=lab 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update) || exit 1; \
	done

BINARY = bin/lastword
TAGS =

build: go ## Build the static binary bin/lastword; TAGS=nosqlite,nonats leaves the stores out
	CGO_ENABLED=0 go build -trimpath -tags '$(TAGS)' -ldflags '-s -w' -o $(BINARY) ./cmd/lastword

# What makes packages is a module of its own, too.
PACKAGE = cmd/lastword/package
VERSION = v0.0.0

release: go ##+ Make all files of a release in dist: make release VERSION=v0.1.0; SIGNING_KEY=FILE signs the digests
	@go -C $(PACKAGE) run . -out $(CURDIR)/dist $(VERSION)

MCPB = npx --yes @anthropic-ai/mcpb@2.1.2

mcpb: node build ##+ Build the bundle of bin/lastword for MCP hosts, bin/lastword-SYSTEM.mcpb; validated by npm's mcpb
	@go -C $(PACKAGE) run . -out $(CURDIR)/bin -binary $(CURDIR)/$(BINARY) $(VERSION) mcpb
	@rm -rf bin/mcpb && $(MCPB) unpack bin/lastword-$$(go env GOOS)-$$(go env GOARCH).mcpb bin/mcpb && $(MCPB) validate bin/mcpb/manifest.json

# An empty Debian, kept for the next time.
DEBIAN = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lastword/debian-$(shell dpkg --print-architecture).tar

$(DEBIAN):
	@mkdir -p $(@D); root=$$(mktemp -d) && chmod 755 $$root; . /etc/os-release; \
	debootstrap --variant=minbase --include=curl $$VERSION_CODENAME $$root >$@.log && rm -rf $$root/var/cache/apt/archives $$root/var/lib/apt/lists $$root/usr/share/locale && \
	tar -C $$root -cf $@.new . && mv $@.new $@ || { cat $@.log >&2; exit 1; }; rm -rf $$root

debian: $(DEBIAN) ##+ Make the empty Debian in which make package-test installs; needs root and debootstrap

package-test: tools build $(DEBIAN) ##+ Install the package of Debian in an empty one, serve, go through the tutorial, purge; needs root, debootstrap and systemd-analyze
	go -C $(PACKAGE) test ./...
	@go -C $(PACKAGE) run . -out $(CURDIR)/bin -binary $(CURDIR)/$(BINARY) $(VERSION) deb
	LASTWORD_DEBIAN=$(DEBIAN) LASTWORD_PACKAGE=$$(ls $(CURDIR)/bin/lastword_$(VERSION:v%=%)_*.deb) CGO_ENABLED=1 go test -race -count=1 -run '^TestPackage$$' -v ./cmd/lastword

release-test: node ##+ Make a release twice and compare all bytes; check its digests and a bundle, and serve from its image
	rm -rf dist/1 dist/2
	for run in 1 2; do go -C $(PACKAGE) run . -out $(CURDIR)/dist/$$run $(VERSION) || exit 1; done
	diff -r dist/1 dist/2
	cd dist/1 && sha256sum --quiet --check SHA256SUMS
	$(MCPB) unpack dist/1/lastword-windows-amd64.mcpb dist/mcpb && $(MCPB) validate dist/mcpb/manifest.json
	LASTWORD_RELEASE=$(CURDIR)/dist/1 go -C $(PACKAGE) test -count=1 -run '^TestImageServes$$' -v .
	rm -rf dist/1 dist/2 dist/mcpb

# CI counts the core with CORE=1; what covers the transports takes three times as long.
CORE =
COVERED = $(MODULE)/messages,$(MODULE)/supervision,$(MODULE)/actors,$(MODULE)/actors/journal$(if $(CORE),,$(COMMA)$(MODULE)/transport/...)
COMMA = ,

# The race detector makes counting ten times as dear: what is covered is counted without it, by the tests that cover it.
cover: go ##+ Require that tests cover 90 % of messages, supervision, actors and its journal, 80 % of each transport
	go test -coverpkg=$(COVERED) -coverprofile=coverage.out ./messages/... ./supervision/... ./actors ./actors/journal/... ./testkit/... $(if $(CORE),,./transport/...)
	$(if $(CORE),,go -C $(LAB) test -coverpkg=$(COVERED) -coverprofile=$(CURDIR)/coverage.lab.out ./nats/...)
	@awk 'FNR > 1 { pkg = $$1; sub("/[^/]*$$", "", pkg); sub("^[^/]*/[^/]*/[^/]*/", "", pkg); \
		size[$$1] = $$2; of[$$1] = pkg; if ($$3 > 0) hit[$$1] = 1 } \
	END { for (b in size) { all[of[b]] += size[b]; if (b in hit) run[of[b]] += size[b] } \
		for (p in all) { least = p ~ "^transport/" ? 80 : 90; pct = 100 * run[p] / all[p]; low = low || pct < least; \
			printf "%-32s %5.1f %% covered, %d %% required\n", p, pct, least | "sort" } \
		exit low }' coverage.out $(if $(CORE),,coverage.lab.out)

nightly: ## Run every check in full, for hours; .ci/run has the smaller forms
	$(MAKE) lint other-systems test race cover
	$(MAKE) quality conformance clients page inspect cluster proxy
	$(MAKE) oracle package-test release-test site
	$(MAKE) museum crash sim fuzz
