// Package v1 holds the bodies of the HTTP interface, version 1, for its server and its clients. What the gateway itself
// has a type for (an operation's view, an actor's view, a host's messages) goes over the wire as that type.
//
// Members are never renamed or removed within a version, and never change their meaning; new answers may have more.
package v1
