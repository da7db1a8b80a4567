package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"blockworld/controlplane/store"
	"blockworld/controlplane/token"
	"time"
)

// What the face costs by itself: everything from the request's bytes to the gateway's door and back.
func BenchmarkSubmit(b *testing.B) {
	s, _ := newRecorded(b, nil)
	b.Run("handler", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if w := ask(s, "POST", "/v1/operations", goodSubmit, nil); w.Code != 200 {
				b.Fatal(w.Body)
			}
		}
	})
	web := httptest.NewServer(s)
	defer web.Close()
	b.Run("loopback", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				q, _ := http.NewRequest("POST", web.URL+"/v1/operations", strings.NewReader(goodSubmit))
				q.Header.Set("Authorization", "Bearer user")
				q.Header.Set("Content-Type", "application/json")
				res, err := web.Client().Do(q)
				if err != nil {
					b.Error(err)
					return
				}
				res.Body.Close()
			}
		})
	})
}

func BenchmarkToken(b *testing.B) {
	e := store.Memory()
	defer e.Close()
	k := token.New(e, time.Now, nil)
	secret, _, err := k.Make(someTokens()["user"].Grant)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Find(secret); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newRecorded(b, nil)
	}
}
