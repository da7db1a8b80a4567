package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"blockworld/controlplane"
	"blockworld/controlplane/token"
)

// route says of one route what its types do not: what it is for, who may call it, and which of the limits it falls under.
type route struct {
	id      string // the operation id of the document
	method  string
	path    string
	tag     string
	summary string
	text    string
	who     token.Kind // token.User or token.Host
	room    room       // which requests it is counted with
	limit   func(Limits) int64
	media   string // content type of the body; empty is application/json
	example any    // of the body, for the document
}

// none stands for "no body" in the type parameters of add.
type none struct{}

// raw is the body of a route that takes bytes as they are.
type raw []byte

// reply carries an answer's body through huma.
type reply[O any] struct{ Body O }

// Keys of what the steps before a handler find out about its request.
type (
	bodyKey   struct{}
	callerKey struct{}
)

// add registers a route: P holds its parameters, B its body, O its answer (none: 204). The document is generated from the
// same three types that requests are read into and answers written from.
func add[P, B, O any](s *Server, rt route, call func(context.Context, Caller, *P, *B) (*O, error)) {
	op := rt.operation(s)
	op.Middlewares = append(op.Middlewares, readInto[B](s, rt), s.place(rt))
	handle := func(ctx context.Context, p *P) (*O, error) {
		who, _ := ctx.Value(callerKey{}).(Caller)
		body, _ := ctx.Value(bodyKey{}).(*B)
		if body == nil {
			body = new(B)
		}
		out, err := call(ctx, who, p, body)
		if err != nil {
			return nil, s.refuse(err)
		}
		return out, nil
	}
	if reflect.TypeFor[O]() == reflect.TypeFor[none]() {
		op.DefaultStatus = http.StatusNoContent
		huma.Register(s.huma, op, func(ctx context.Context, p *P) (*none, error) { _, err := handle(ctx, p); return nil, err })
	} else {
		op.Responses["200"] = &huma.Response{Description: "as asked"}
		huma.Register(s.huma, op, func(ctx context.Context, p *P) (*reply[O], error) {
			out, err := handle(ctx, p)
			if err != nil {
				return nil, err
			}
			return &reply[O]{*out}, nil
		})
	}
	documentBody[B](s, rt)
}

// operation is what the framework needs to know of a route, and the steps before its body is read.
func (rt *route) operation(s *Server) huma.Operation {
	return huma.Operation{
		OperationID: rt.id, Method: rt.method, Path: rt.path, Tags: []string{rt.tag}, Summary: rt.summary, Description: rt.text,
		Security:    []map[string][]string{{"token": {}}},
		Responses:   map[string]*huma.Response{"default": refusal()},
		Middlewares: huma.Middlewares{s.plainStatus, s.admit(*rt), s.checkQuery},
	}
}

// documentBody writes the type of the body into the document. The framework does not learn of it earlier, for then it
// would read bodies itself, and less strictly.
func documentBody[B any](s *Server, rt route) {
	t := reflect.TypeFor[B]()
	if t == reflect.TypeFor[none]() {
		return
	}
	m := &huma.MediaType{}
	if t == reflect.TypeFor[raw]() {
		m.Schema = &huma.Schema{Type: huma.TypeString, Format: "binary"}
	} else {
		m.Schema = s.huma.OpenAPI().Components.Schemas.Schema(t, true, rt.id)
	}
	if rt.example != nil {
		m.Example = rt.example
	}
	documented(s.huma.OpenAPI().Paths[rt.path], rt.method).RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{rt.mediaType(): m},
	}
}

func documented(p *huma.PathItem, method string) *huma.Operation {
	switch method {
	case http.MethodGet:
		return p.Get
	case http.MethodPut:
		return p.Put
	case http.MethodDelete:
		return p.Delete
	default:
		return p.Post
	}
}

func (rt *route) mediaType() string {
	if rt.media != "" {
		return rt.media
	}
	return "application/json"
}

func (rt *route) bodyLimit(l Limits) int64 {
	if rt.limit != nil {
		return rt.limit(l)
	}
	return l.Body
}

// readInto is the step that reads a body of type B; a route without one takes none.
func readInto[B any](s *Server, rt route) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(c)
		body := new(B)
		if err := readTo(s, rt, w, r, body); err != nil {
			s.write(c, err)
			return
		}
		// What reads ahead on the connection would end a long wait at the time that a body may take.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		next(huma.WithValue(c, bodyKey{}, body))
	}
}

func readTo(s *Server, rt route, w http.ResponseWriter, r *http.Request, body any) *controlplane.Error {
	limit := rt.bodyLimit(s.limits)
	if _, without := body.(*none); without {
		limit = 0
	} else if err := checkMedia(r.Header, rt.mediaType()); err != nil {
		return err
	}
	b, err := readBody(w, r, limit)
	if err != nil {
		return err
	}
	switch v := body.(type) {
	case *none:
		return nil
	case *raw:
		*v = b
		return nil
	default:
		return decode(b, body)
	}
}

// checkQuery refuses parameters that the route does not have, and those that are there twice: a misspelt filter would
// otherwise answer with everything.
func (s *Server) checkQuery(c huma.Context, next func(huma.Context)) {
	u := c.URL()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		s.write(c, problem(controlplane.CodeInvalid, "the query cannot be read: escape what is no letter or digit with %%XX"))
		return
	}
	for name, values := range query {
		known := false
		for _, p := range c.Operation().Parameters {
			known = known || p.In == "query" && p.Name == name
		}
		if !known || len(values) > 1 {
			s.write(c, problem(CodeUnknownParameter, "this request has a query parameter that is unknown here or there twice: it takes %s", parameters(c.Operation())))
			return
		}
	}
	next(c)
}

func parameters(op *huma.Operation) string {
	var names []string
	for _, p := range op.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ") + ", each once"
}

// plainStatus answers 400 where the framework says 422 of a parameter, so that one sort of mistake has one status.
func (s *Server) plainStatus(c huma.Context, next func(huma.Context)) { next(plain{c}) }

type plain struct{ framework }

// framework is another name of the framework's context, whose own name is that of one of its methods.
type framework = huma.Context

func (p plain) SetStatus(code int) {
	if code == http.StatusUnprocessableEntity {
		code = http.StatusBadRequest
	}
	p.framework.SetStatus(code)
}

func (p plain) Unwrap() huma.Context { return p.framework }

// ours puts the framework's own refusals, which are about parameters only, into the form of all others.
func (s *Server) ours(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	if m.Status >= http.StatusInternalServerError {
		return s.refuse(errors.New("the framework failed")), nil
	}
	where, what := "a parameter", "is not as it must be"
	if len(m.Errors) > 0 && m.Errors[0] != nil {
		where, what = m.Errors[0].Location, m.Errors[0].Message
	}
	return s.refuse(problem(controlplane.CodeInvalid, "%s: %s", where, what)), nil
}

// addStream registers a route whose answer is no JSON: serve writes it itself, or returns an error before it wrote anything.
func addStream[P any](s *Server, rt route, media string, schema *huma.Schema,
	serve func(context.Context, http.ResponseWriter, *http.Request, Caller, *P) error) {
	if schema == nil {
		schema = &huma.Schema{Type: huma.TypeString, Format: "binary"}
	}
	op := rt.operation(s)
	op.Middlewares = append(op.Middlewares, readInto[none](s, rt), s.place(rt))
	op.Responses["200"] = &huma.Response{Description: "as asked", Content: map[string]*huma.MediaType{media: {Schema: schema}}}
	huma.Register(s.huma, op, func(ctx context.Context, p *P) (*huma.StreamResponse, error) {
		who, _ := ctx.Value(callerKey{}).(Caller)
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humago.Unwrap(c)
			if err := serve(ctx, w, r, who, p); err != nil {
				s.write(c, err)
			}
		}}, nil
	})
}
