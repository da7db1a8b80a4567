package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"blockworld/controlplane"
	v1 "blockworld/controlplane/api/v1"
	"blockworld/controlplane/token"
)

// The codes that only this face has, beside those of the gateway and of tokens.
const (
	CodeInvalidJSON      controlplane.Code = "invalid_json"      // the body is no JSON
	CodeUnknownMember    controlplane.Code = "unknown_member"    // a member that the request does not have
	CodeDuplicateKey     controlplane.Code = "duplicate_key"     // a member twice
	CodeWrongType        controlplane.Code = "wrong_type"        // a member of another type or form
	CodeTrailingData     controlplane.Code = "trailing_data"     // something behind the value
	CodeBodyMissing      controlplane.Code = "body_missing"      // no body where one is needed
	CodeMediaType        controlplane.Code = "media_type"        // another content type than the route's
	CodeUnknownParameter controlplane.Code = "unknown_parameter" // a query parameter that the route does not have
	CodeNoRoute          controlplane.Code = "no_route"          // nothing is at this path
	CodeMethod           controlplane.Code = "method"            // the path is known, the method is not
	CodeBusy             controlplane.Code = "busy"              // too many requests at the same time
	CodeForeignOrigin    controlplane.Code = "foreign_origin"    // sent by a web page of another site
)

// statuses are the HTTP statuses of the codes that the gateway does not know.
var statuses = map[controlplane.Code]int{
	CodeInvalidJSON: 400, CodeUnknownMember: 400, CodeDuplicateKey: 400, CodeWrongType: 400, CodeTrailingData: 400,
	CodeBodyMissing: 400, CodeMediaType: 415, CodeUnknownParameter: 400, CodeNoRoute: 404, CodeMethod: 405, CodeBusy: 503,
	CodeForeignOrigin: 403,
	token.CodeMissing: 401, token.CodeWrong: 401, token.CodeExpired: 401, token.CodeRevoked: 401, token.CodeKind: 403,
}

// Codes are all codes that an answer can carry, in a fixed order.
func Codes() []controlplane.Code {
	return append(controlplane.Codes(),
		CodeInvalidJSON, CodeUnknownMember, CodeDuplicateKey, CodeWrongType, CodeTrailingData, CodeBodyMissing, CodeMediaType,
		CodeUnknownParameter, CodeNoRoute, CodeMethod, CodeBusy, CodeForeignOrigin,
		token.CodeMissing, token.CodeWrong, token.CodeExpired, token.CodeRevoked, token.CodeKind)
}

func statusOf(c controlplane.Code) int {
	if status, ok := statuses[c]; ok {
		return status
	}
	return c.Status()
}

func problem(code controlplane.Code, format string, args ...any) *controlplane.Error {
	return controlplane.Errorf(code, format, args...)
}

// refusalBody is a problem on its way through the framework.
type refusalBody struct{ v1.Problem }

// GetStatus gives the framework the HTTP status.
func (r *refusalBody) GetStatus() int { return r.Status }

// Error writes code and sentence.
func (r *refusalBody) Error() string { return r.Code + ": " + r.Detail }

// ContentType is that of RFC 9457.
func (r *refusalBody) ContentType(string) string { return "application/problem+json" }

// refuse puts any error into the form in which callers get it. What is not of our making is not told: it may name
// files, and says nothing that a caller could do something about.
func (s *Server) refuse(err error) *refusalBody {
	var ours *controlplane.Error
	switch {
	case errors.As(err, &ours):
	case errors.Is(err, context.DeadlineExceeded):
		ours = problem(controlplane.CodeTimeout, "it took too long: ask again, with the same key")
	case errors.Is(err, context.Canceled):
		ours = problem(controlplane.CodeUnavailable, "the server is stopping, or you have gone: ask again, with the same key")
	default:
		s.log.Error("a request failed", "error", err)
		ours = problem(controlplane.CodeInternal, "the server failed at this: its log says why; the request may be sent again with the same key")
	}
	status := statusOf(ours.Code)
	s.counts.refused(ours.Code)
	return &refusalBody{v1.Problem{
		Type: "urn:blockworld:problem:" + string(ours.Code), Title: http.StatusText(status), Status: status,
		Code: string(ours.Code), Detail: ours.Message, Facts: ours.Detail,
	}}
}

// write answers with a refusal from a step before the handler.
func (s *Server) write(c huma.Context, err error) {
	r := s.refuse(err)
	for name, value := range refusalHeaders(r) {
		c.SetHeader(name, value)
	}
	c.SetStatus(r.Status)
	_ = writeJSON(c.BodyWriter(), r.Problem) // the caller has gone when this fails
}

// Refuse answers with a refusal, for handlers that were mounted.
func (s *Server) Refuse(w http.ResponseWriter, err error) { s.writeProblem(w, err) }

// writeProblem does the same outside the framework.
func (s *Server) writeProblem(w http.ResponseWriter, err error) {
	r := s.refuse(err)
	for name, value := range refusalHeaders(r) {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.Status)
	_ = writeJSON(w, r.Problem) // the caller has gone when this fails
}

func refusalHeaders(r *refusalBody) map[string]string {
	h := map[string]string{"Content-Type": r.ContentType("")}
	switch r.Status {
	case http.StatusUnauthorized:
		h["WWW-Authenticate"] = `Bearer realm="blockworld"`
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h["Retry-After"] = strconv.Itoa(1)
	}
	return h
}
