package policy

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
)

// MaxConfig bounds the text of a config in bytes.
const MaxConfig = 4 << 20

// ParseYAML reads a config. Unknown and doubled keys and words outside their set are errors with line and column that
// wrap ErrConfig; Compile checks the rest.
func ParseYAML(data []byte) (Config, error) {
	var c Config
	if len(data) > MaxConfig {
		return c, fmt.Errorf("%w: %d bytes are too many, at most %d are allowed", ErrConfig, len(data), MaxConfig)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return c, fmt.Errorf("%w: it is empty; write at least profile: guarded", ErrConfig)
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&c); err != nil {
		// without the lines around the place: a secret may stand there
		text := strings.ToValidUTF8(strings.TrimSpace(yaml.FormatError(err, false, false)), "?")
		return Config{}, fmt.Errorf("%w: %s", ErrConfig, text[:min(len(text), 1000)])
	}
	return c, nil
}

// ParseJSON reads a config. Unknown and doubled members and words outside their set are errors that wrap ErrConfig;
// Compile checks the rest.
func ParseJSON(data []byte) (Config, error) {
	var c Config
	if len(data) > MaxConfig {
		return c, fmt.Errorf("%w: %d bytes are too many, at most %d are allowed", ErrConfig, len(data), MaxConfig)
	}
	if err := json.Unmarshal(data, &c, json.RejectUnknownMembers(true)); err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return c, nil
}
