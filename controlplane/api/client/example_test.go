package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"blockworld/controlplane"
	"blockworld/controlplane/api/client"
	"blockworld/effects/host"
)

// One action, from the lease to the proof.
func Example() {
	c, err := client.New(client.Options{Base: "http://127.0.0.1:7643", Token: "bw_..."})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	if err := say(context.Background(), c, "builder-1", "hello"); err != nil {
		fmt.Println(err)
	}
}

func say(ctx context.Context, c *client.Client, actor host.Name, text string) error {
	lease, err := c.Acquire(ctx, actor, time.Minute)
	if err != nil {
		return err
	}
	seen, err := c.Observe(ctx, actor)
	if err != nil {
		return err
	}
	arguments, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	v, err := c.Submit(ctx, controlplane.SubmitRequest{
		Actor: actor, Lease: lease.ID, Key: "hello-0001", Epoch: seen.Epoch, Sequence: seen.Sequence,
		Action: host.Action{Capability: "say", Arguments: arguments},
	})
	var refusal *controlplane.Error
	if errors.As(err, &refusal) && refusal.Code == controlplane.CodeStale {
		return fmt.Errorf("the world moved on, observe again: %w", err)
	}
	if err != nil {
		return err
	}
	for cursor := ""; !v.Terminal && !v.ReconciliationPending; {
		r, err := c.Wait(ctx, controlplane.WaitRequest{Op: v.ID, Cursor: cursor, TimeoutMS: 25_000})
		if err != nil {
			return err
		}
		v, cursor = *r.Operation, r.Cursor
	}
	if !v.MaySayDone {
		return fmt.Errorf("%s: %s", v.State, v.Meaning)
	}
	return nil
}
