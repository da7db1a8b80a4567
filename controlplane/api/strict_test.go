package api

import (
	"net/http"
	"strings"
	"testing"
)

const goodSubmit = `{"actor":"builder-1","lease":"L","key":"k-1","epoch":{"host":1,"world":1,"timeline":1},"sequence":1,"action":{"capability":"say","arguments":{"text":"hello"}}}`

// with puts a member in front of the members of the good submit.
func with(member string) string { return "{" + member + "," + goodSubmit[1:] }

func TestBodiesAreReadStrictly(t *testing.T) {
	big := with(`"task":"` + strings.Repeat("a", 1<<20) + `"`)
	for name, c := range map[string]struct{ body, code string }{
		"a whole request":                               {goodSubmit, ""},
		"white space around it":                         {" \n" + goodSubmit + "\n ", ""},
		"nothing":                                       {" ", "body_missing"},
		"half a request":                                {goodSubmit[:40], "invalid_json"},
		"no JSON":                                       {"actor=builder-1", "invalid_json"},
		"a list":                                        {"[]", "wrong_type"},
		"text that is not UTF-8":                        {with("\"task\":\"\xff\""), "invalid_json"},
		"an unknown member":                             {with(`"sudo":true`), "unknown_member"},
		"a member in other letters":                     {with(`"Task":"t"`), "unknown_member"},
		"a member twice":                                {with(`"key":"k-2"`), "duplicate_key"},
		"a member twice inside the arguments":           {strings.Replace(goodSubmit, `{"text":"hello"}`, `{"text":"a","text":"b"}`, 1), "duplicate_key"},
		"a member twice inside the epoch":               {strings.Replace(goodSubmit, `"world":1`, `"world":1,"world":2`, 1), "duplicate_key"},
		"a number for a text":                           {with(`"task":7`), "wrong_type"},
		"a text for a number":                           {strings.Replace(goodSubmit, `"sequence":1`, `"sequence":"1"`, 1), "wrong_type"},
		"a negative count":                              {strings.Replace(goodSubmit, `"sequence":1`, `"sequence":-1`, 1), "wrong_type"},
		"half a count":                                  {strings.Replace(goodSubmit, `"sequence":1`, `"sequence":1.5`, 1), "wrong_type"},
		"a count that no 64 bits hold":                  {strings.Replace(goodSubmit, `"sequence":1`, `"sequence":99999999999999999999`, 1), "wrong_type"},
		"an id that is none":                            {with(`"parent":"12"`), "wrong_type"},
		"something behind it":                           {goodSubmit + `{}`, "trailing_data"},
		"rubbish behind it":                             {goodSubmit + `xyz`, "trailing_data"},
		"more than the limit":                           {big, "too_large"},
		"a thousand levels":                             {strings.Replace(goodSubmit, `{"text":"hello"}`, strings.Repeat("[", 1000)+strings.Repeat("]", 1000), 1), "invalid_json"},
		"brackets in a text, which are no levels":       {strings.Replace(goodSubmit, "hello", strings.Repeat("[", 1000)+`\"[`, 1), ""},
		"CP-02/a principal in the body":                 {with(`"principal":"root"`), "unknown_member"},
		"CP-03/scopes in the body":                      {with(`"scopes":["admin"]`), "unknown_member"},
		"CP-102/steps in the body":                      {with(`"steps":[{"capability":"say"}]`), "unknown_member"},
		"CP-102/a script in the body":                   {with(`"script":"place(); place()"`), "unknown_member"},
		"CP-102/a list of actions instead of an action": {strings.Replace(goodSubmit, `"action":{`, `"action":[{`, 1), "wrong_type"},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := newRecorded(t, nil)
			w := ask(s, "POST", "/v1/operations", c.body, nil)
			if got := codeOf(t, w); got != c.code {
				t.Fatalf("code %q, want %q: %s", got, c.code, w.Body)
			}
			if took := r.took(); (took == "") != (c.code != "") {
				t.Errorf("the gateway was asked %q", took)
			}
		})
	}
}

func TestTheContentTypeIsTheRoutes(t *testing.T) {
	for name, c := range map[string]struct {
		media []string
		code  string
	}{
		"json":               {[]string{"application/json"}, ""},
		"json in UTF-8":      {[]string{"application/json; charset=utf-8"}, ""},
		"json in Latin-1":    {[]string{"application/json; charset=latin1"}, "media_type"},
		"none":               {nil, "media_type"},
		"a form":             {[]string{"application/x-www-form-urlencoded"}, "media_type"},
		"plain text":         {[]string{"text/plain"}, "media_type"},
		"yaml":               {[]string{"application/yaml"}, "media_type"},
		"another sort of it": {[]string{"application/vnd.api+json"}, "media_type"},
		"two":                {[]string{"application/json", "text/plain"}, "media_type"},
		"rubbish":            {[]string{";;;"}, "media_type"},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := newRecorded(t, nil)
			w := ask(s, "POST", "/v1/operations", goodSubmit, func(q *http.Request) { q.Header["Content-Type"] = c.media })
			if got := codeOf(t, w); got != c.code {
				t.Fatalf("code %q, want %q: %s", got, c.code, w.Body)
			}
			if (r.took() == "") != (c.code != "") {
				t.Errorf("the gateway was asked %q", r.took())
			}
		})
	}
	t.Run("compressed", func(t *testing.T) {
		s, _ := newRecorded(t, nil)
		w := ask(s, "POST", "/v1/operations", goodSubmit, func(q *http.Request) { q.Header.Set("Content-Encoding", "gzip") })
		if got := codeOf(t, w); got != "media_type" {
			t.Errorf("code %q", got)
		}
	})
	t.Run("a body where none belongs", func(t *testing.T) {
		s, r := newRecorded(t, nil)
		w := ask(s, "POST", "/v1/actors/a/clear-stop", "{}", nil)
		if got := codeOf(t, w); got != "too_large" || r.took() != "" {
			t.Errorf("code %q, asked %q", got, r.took())
		}
	})
}

func TestParametersAreReadStrictly(t *testing.T) {
	for path, code := range map[string]string{
		"/v1/operations?state=queued&limit=5":                "",
		"/v1/operations?state=outcome-unknown":               "",
		"/v1/operations?state=done":                          "invalid",
		"/v1/operations?limit=0":                             "invalid",
		"/v1/operations?limit=201":                           "invalid",
		"/v1/operations?limit=many":                          "invalid",
		"/v1/operations?acotr=a":                             "unknown_parameter",
		"/v1/operations?actor=a&actor=b":                     "unknown_parameter",
		"/v1/operations?actor=%zz":                           "invalid",
		"/v1/operations?parent=xyz":                          "invalid",
		"/v1/operations/xyz":                                 "invalid",
		"/v1/operations/" + zeroID:                           "",
		"/v1/wait?operation=" + zeroID + "&timeout_ms=25000": "",
		"/v1/wait?operation=" + zeroID + "&timeout_ms=25001": "invalid",
		"/v1/wait?operation=" + zeroID + "&timeout_ms=-1":    "invalid",
		"/v1/wait?operation=" + zeroID + "&cursor=%00%ff%3C": "",
		"/v1/actors/builder%2F1":                             "",
		"/v1/nothing":                                        "no_route",
		"/v2/operations":                                     "no_route",
	} {
		s, r := newRecorded(t, nil)
		w := ask(s, "GET", path, "", nil)
		if got := codeOf(t, w); got != code {
			t.Errorf("%s: code %q, want %q: %s", path, got, code, w.Body)
		}
		if (r.took() == "") != (code != "") {
			t.Errorf("%s: the gateway was asked %q", path, r.took())
		}
		if w.Code == http.StatusUnprocessableEntity {
			t.Errorf("%s: the framework's own status", path)
		}
	}
	s, _ := newRecorded(t, nil)
	if w := ask(s, "PATCH", "/v1/operations", "", nil); codeOf(t, w) != "method" || w.Header().Get("Allow") == "" {
		t.Errorf("another method: %d %s", w.Code, w.Body)
	}
}
