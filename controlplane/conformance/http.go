package conformance

import (
	"crypto/subtle"
	"net/http"

	"blockworld/controlplane"
	"blockworld/controlplane/api"
	"blockworld/controlplane/token"
)

// Handler is the desk as a daemon over HTTP. Hosts show the secret as their bearer token; every other token is refused.
// Routes for users are there and refused too: nobody has a token for them.
func (d *Desk) Handler(secret string) (http.Handler, error) {
	return api.New(api.Options{Gateway: nobody{}, Hosts: d, Tokens: one{secret}, Version: "conformance"})
}

// nobody is a gateway that no caller reaches.
type nobody struct{ api.Gateway }

// Stats implements api.Gateway.
func (nobody) Stats() controlplane.Stats { return controlplane.Stats{} }

// one knows one host's token.
type one struct{ secret string }

// Find implements api.Tokens.
func (o one) Find(secret string) (token.Token, error) {
	switch {
	case secret == "":
		return token.Token{}, refuse(token.CodeMissing, "no token was shown: send the header Authorization: Bearer TOKEN")
	case subtle.ConstantTimeCompare([]byte(secret), []byte(o.secret)) != 1:
		return token.Token{}, refuse(token.CodeWrong, "the token is none of this server: take the one that was printed")
	}
	return token.Token{Grant: token.Grant{ID: "conformance", Kind: token.Host}}, nil
}

// Make implements api.Tokens.
func (one) Make(token.Grant) (string, token.Token, error) {
	return "", token.Token{}, refuse(controlplane.CodeForbidden, "no tokens are made here")
}

// List implements api.Tokens.
func (one) List() ([]token.Token, error) { return nil, nil }

// Revoke implements api.Tokens.
func (one) Revoke(string) (token.Token, error) {
	return token.Token{}, refuse(controlplane.CodeNotFound, "there is no such token")
}
