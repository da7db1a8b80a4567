package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// ErrExposed is returned for an address that others could reach, unless that was asked for and callers must show tokens.
var ErrExposed = errors.New("the address can be reached from other machines")

// Listen opens address, such as 127.0.0.1:7643. An address that is not loopback needs expose, and tokens that callers
// must show: without tokens whoever reaches the server drives the bots.
func Listen(ctx context.Context, address string, expose, tokens bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: want host:port, such as 127.0.0.1:7643: %w", address, err)
	}
	if !loopbackName(host) {
		switch {
		case !expose:
			return nil, fmt.Errorf("%s: %w: listen on 127.0.0.1, or allow it with --expose, or expose: true in the configuration", address, ErrExposed)
		case !tokens:
			return nil, fmt.Errorf("%s: %w and tokens are off: switch tokens on, or listen on 127.0.0.1", address, ErrExposed)
		}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && !(expose && tokens) {
		// A name such as localhost may resolve to anything.
		return nil, errors.Join(fmt.Errorf("%s is %s: %w: name a loopback address", address, a.IP, ErrExposed), l.Close())
	}
	return l, nil
}

// Serve answers on l until ctx ends; then open requests get grace to finish, and event streams are ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.ReadHeader,
		ReadTimeout:       s.limits.Read,
		WriteTimeout:      s.limits.Write,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    s.limits.Header,
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.Close() // ends waits and streams, so that nothing holds the shutdown up
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Grace)
	defer cancel()
	err := srv.Shutdown(grace)
	if err != nil {
		err = errors.Join(fmt.Errorf("stop serving: %w", err), srv.Close())
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
