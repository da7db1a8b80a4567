package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"blockworld/worldstate/registry"
)

func main() {
	data := flag.String("data", "fixtures/peers/node_modules/minecraft-data", "folder of the npm package minecraft-data")
	out := flag.String("out", "bot/wire", "folder to write to")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(data, out string) error {
	protocols, err := load(data)
	if err != nil {
		return err
	}
	ids, err := generateIDs(protocols)
	if err != nil {
		return err
	}
	schema, err := generateSchema(protocols)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "zz_ids.go"), ids, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "zz_schema.go"), schema, 0o644)
}

// protocol is one version's protocol.json.
type protocol struct {
	version registry.Protocol
	types   map[string]json.RawMessage
	// mappings: state, direction, packet name -> id
	mappings map[string]map[string]map[string]int
}

// load reads the protocol.json of every protocol, ascending.
func load(data string) ([]protocol, error) {
	root := filepath.Join(data, "minecraft-data", "data")
	var paths struct {
		PC map[string]map[string]string `json:"pc"`
	}
	if err := readJSON(filepath.Join(root, "dataPaths.json"), &paths); err != nil {
		return nil, err
	}
	var out []protocol
	for _, p := range registry.Protocols() {
		dir := ""
		for _, v := range p.Versions() {
			if d := paths.PC[v.Name]["protocol"]; d != "" {
				dir = d
			}
		}
		if dir == "" {
			return nil, fmt.Errorf("minecraft-data has no protocol for %s", p)
		}
		pr, err := loadOne(filepath.Join(root, dir, "protocol.json"), p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		out = append(out, pr)
	}
	return out, nil
}

func loadOne(path string, v registry.Protocol) (protocol, error) {
	var raw map[string]json.RawMessage
	if err := readJSON(path, &raw); err != nil {
		return protocol{}, err
	}
	pr := protocol{version: v, mappings: map[string]map[string]map[string]int{}}
	if err := json.Unmarshal(raw["types"], &pr.types); err != nil {
		return protocol{}, err
	}
	for _, state := range []string{"handshaking", "status", "login", "configuration", "play"} {
		pr.mappings[state] = map[string]map[string]int{}
		for _, dir := range []string{"toClient", "toServer"} {
			m, err := mapping(raw[state], dir)
			if err != nil {
				return protocol{}, fmt.Errorf("%s %s: %w", state, dir, err)
			}
			correct(v, state, dir, m)
			pr.mappings[state][dir] = m
		}
	}
	return pr, nil
}

// mapping reads the id table of one state and direction: packet -> [container, [{name, type: [mapper, {mappings}]}, ...]].
func mapping(state json.RawMessage, dir string) (map[string]int, error) {
	var s map[string]struct {
		Types struct {
			Packet []json.RawMessage `json:"packet"`
		} `json:"types"`
	}
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, err
	}
	var fields []struct {
		Type []json.RawMessage `json:"type"`
	}
	if len(s[dir].Types.Packet) != 2 {
		return nil, fmt.Errorf("no packet container")
	}
	if err := json.Unmarshal(s[dir].Types.Packet[1], &fields); err != nil {
		return nil, err
	}
	var m struct {
		Mappings map[string]string `json:"mappings"`
	}
	if err := json.Unmarshal(fields[0].Type[1], &m); err != nil {
		return nil, err
	}
	out := map[string]int{}
	for id, name := range m.Mappings {
		var n int
		if _, err := fmt.Sscanf(id, "0x%x", &n); err != nil {
			return nil, err
		}
		out[name] = n
	}
	return out, nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w (install the peers first: npm ci in fixtures/peers)", err)
	}
	return json.Unmarshal(b, v)
}
