package profile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"blockworld/effects"
	"blockworld/sentinel/boltfile"
)

// maxFile bounds a profile: probe writes about one kilobyte, and the YAML parser takes time by the square of nesting.
const maxFile = 1 << 14

// Path returns where the profile of a server lives below a data directory. Different addresses have different paths,
// whatever characters they hold.
func Path(data, address string) string { return filepath.Join(data, "profiles", fileName(address)) }

// plain addresses name their file as they are, with _ for the colon; all others get a hash behind what is left of them.
var plain = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,99}(:[0-9]{1,5})?$`)

func fileName(address string) string {
	address = strings.ToLower(address)
	if plain.MatchString(address) {
		return strings.Replace(address, ":", "_", 1) + ".yaml"
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, address[:min(len(address), 80)])
	sum := sha256.Sum256([]byte(address))
	return safe + "-" + hex.EncodeToString(sum[:6]) + ".yaml"
}

// Parse reads a profile and validates it. An unknown or doubled key or a value outside its set is an error with line
// and column; so is a second document. Errors wrap ErrInvalid. The empty file is the empty profile of no server and not valid.
func Parse(data []byte) (Profile, error) {
	if len(data) > maxFile {
		return Profile{}, fmt.Errorf("%w: %d bytes are too many", ErrInvalid, len(data))
	}
	if line := secondDocument(data); line > 0 {
		return Profile{}, fmt.Errorf("%w: [%d:1] a second document begins here; a profile is one, so remove one of them", ErrInvalid, line)
	}
	var p Profile
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := d.Decode(&p); err != nil {
		text := strings.ToValidUTF8(strings.TrimSpace(yaml.FormatError(err, false, true)), "?")
		return Profile{}, fmt.Errorf("%w: %s", ErrInvalid, text[:min(len(text), 1000)])
	}
	return p, p.Validate()
}

// secondDocument returns the line where another YAML document begins, 0 when there is none. A decoder reads the first one
// only, so what a person wrote behind it would count for nothing.
func secondDocument(data []byte) int {
	content, mark := false, 0
	for _, t := range lexer.Tokenize(string(data)) {
		switch t.Type {
		case token.CommentType, token.SpaceType, token.DirectiveType:
		case token.DocumentHeaderType, token.DocumentEndType:
			if content {
				mark = t.Position.Line
			}
		default:
			if content = true; mark > 0 {
				return mark
			}
		}
	}
	return 0
}

// Load reads a profile file; ErrMissing when there is none.
func Load(path string) (Profile, error) {
	data, err := readSome(path)
	if errors.Is(err, os.ErrNotExist) {
		return Profile{}, fmt.Errorf("%w (looked for %s)", ErrMissing, path)
	}
	if err != nil {
		return Profile{}, err
	}
	p, err := Parse(data)
	if err != nil {
		return Profile{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// readSome reads a file, one byte more than is allowed at most.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Marshal writes the profile as YAML. Equal profiles give equal bytes.
func (p Profile) Marshal() ([]byte, error) {
	data, err := yaml.MarshalWithOptions(p, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	return data, nil
}

// Generation is a hash of everything the profile says: two profiles that say the same are one policy generation.
func (p Profile) Generation() (effects.Digest, error) {
	data, err := p.Marshal()
	if err != nil {
		return effects.Digest{}, err
	}
	return sha256.Sum256(data), nil
}

// Save validates the profile and writes its file with mode 0600, whole or not at all. Missing folders are made. Errors
// wrap ErrInvalid or ErrNotWritten.
func (p Profile) Save(path string) error {
	if err := p.Validate(); err != nil {
		return err
	}
	data, err := p.Marshal()
	if err != nil {
		return err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = boltfile.WriteWhole(path, data)
	}
	if err != nil {
		return fmt.Errorf("%w to %s (%w): see that you may write there and that there is room, or choose another place", ErrNotWritten, path, err)
	}
	return nil
}
