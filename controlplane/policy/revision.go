package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// revision is a digest of a normal config. Its first line changes when the meaning of a config does.
func (c *Config) revision() string {
	h := sha256.New()
	fmt.Fprintf(h, "blockworld policy 1\nprofile %s\n", c.Profile)
	for _, p := range c.Plots {
		fmt.Fprintf(h, "plot %q %q %q %q %s\n", p.ID, p.Server, p.World, p.Owner, p.Ownership)
	}
	for i := range c.Rules {
		r := &c.Rules[i]
		fmt.Fprintf(h, "rule %q %s %q %s %d %q", r.ID, r.Layer, r.Subject, r.Result, r.Priority, r.Why)
		r.Match.write(h)
	}
	for i := range c.Budgets {
		b := &c.Budgets[i]
		fmt.Fprintf(h, "budget %q %s %q %d %d %d", b.ID, b.Layer, b.Subject, b.MaxCount, b.MaxQuantity, b.WindowTicks)
		b.Match.write(h)
	}
	for _, s := range c.Secrets {
		// Two bytes of a secret's hash: enough to notice a change, too few to guess the secret by.
		sum := sha256.Sum256([]byte(s))
		fmt.Fprintf(h, "secret %x\n", sum[:2])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (m *Match) write(w io.Writer) {
	reversible := "any"
	if m.Reversible != nil {
		reversible = fmt.Sprint(*m.Reversible)
	}
	fmt.Fprintf(w, " %v %v %v %q %q %v %s\n", m.Kinds, m.Operations, m.Ownerships, m.Scopes, m.Tags, m.Risks, reversible)
}
