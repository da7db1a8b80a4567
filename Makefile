# The verbs of the project. `make test` is what a developer runs before every commit.
.PHONY: build test race full rows generate lint bench fuzz peers

build: ## the one binary
	go build -o blockworld ./cmd/blockworld

test: ## everything a machine with only Go can check
	go test ./...

race:
	go test -race ./...

full: peers ## long counts: crash matrix, adversary, peers
	BLOCKWORLD_FULL=1 go test -timeout 60m ./...

rows: ## required behaviour -> pass or fail
	go test -json ./... | go run ./fixtures/rows

generate: peers ## every zz_ file, from the pinned npm package minecraft-data
	bash .ci/generate

lint:
	test -z "$$(gofmt -l $$(git ls-files '*.go'))"
	go vet ./...

bench:
	go run ./cmd/blockworld bench

fuzz: ## ten seconds for each fuzz target
	bash .ci/fuzz

peers: fixtures/peers/node_modules/.package-lock.json

fixtures/peers/node_modules/.package-lock.json: fixtures/peers/package-lock.json
	cd fixtures/peers && npm ci --no-audit --no-fund
