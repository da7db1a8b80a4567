package registry

import "fmt"

// Protocol is the protocol version number of Minecraft: Java Edition, as sent in the handshake.
type Protocol int32

// The protocols this program speaks, named after the first game version that uses each.
const (
	V1_20_2  Protocol = 764
	V1_20_3  Protocol = 765
	V1_20_5  Protocol = 766
	V1_21    Protocol = 767
	V1_21_2  Protocol = 768
	V1_21_4  Protocol = 769
	V1_21_5  Protocol = 770
	V1_21_6  Protocol = 771
	V1_21_7  Protocol = 772
	V1_21_9  Protocol = 773
	V1_21_11 Protocol = 774
	V26_1    Protocol = 775
)

// First and Latest are the ends of the range of protocols this program speaks.
const (
	First  = V1_20_2
	Latest = V26_1
)

// GameVersion is one released game version.
type GameVersion struct {
	Name        string // "1.21.8"
	DataVersion int32  // number that save files and schematics carry
}

// versions lists, per protocol from First on, the releases that speak it. Source: minecraft-data protocolVersions.json.
var versions = [...][]GameVersion{
	{{"1.20.2", 3578}},
	{{"1.20.3", 3698}, {"1.20.4", 3700}},
	{{"1.20.5", 3837}, {"1.20.6", 3839}},
	{{"1.21", 3953}, {"1.21.1", 3955}},
	{{"1.21.2", 4080}, {"1.21.3", 4082}},
	{{"1.21.4", 4189}},
	{{"1.21.5", 4325}},
	{{"1.21.6", 4435}},
	{{"1.21.7", 4438}, {"1.21.8", 4440}},
	{{"1.21.9", 4554}, {"1.21.10", 4556}},
	{{"1.21.11", 4671}},
	{{"26.1", 4786}, {"26.1.1", 4788}, {"26.1.2", 4790}},
}

// Protocols returns every protocol this program speaks, ascending.
func Protocols() []Protocol {
	out := make([]Protocol, len(versions))
	for i := range out {
		out[i] = First + Protocol(i)
	}
	return out
}

// Known tells whether this program speaks p.
func (p Protocol) Known() bool { return p >= First && p <= Latest }

// Versions returns the releases that speak p, oldest first; nil for an unknown protocol.
func (p Protocol) Versions() []GameVersion {
	if !p.Known() {
		return nil
	}
	return versions[p-First]
}

// Name returns the newest release that speaks p, or "unknown".
func (p Protocol) Name() string {
	v := p.Versions()
	if len(v) == 0 {
		return "unknown"
	}
	return v[len(v)-1].Name
}

// String writes the protocol for people: "1.21.8 (772)".
func (p Protocol) String() string { return fmt.Sprintf("%s (%d)", p.Name(), int32(p)) }

// ByVersionName finds the protocol of a release such as "1.21.8".
func ByVersionName(name string) (Protocol, bool) {
	for i, list := range versions {
		for _, v := range list {
			if v.Name == name {
				return First + Protocol(i), true
			}
		}
	}
	return 0, false
}

// ByDataVersion finds the protocol of the newest release that is not newer than a save file's data version. Exact is
// true if a release carries that very number. A data version before the first known release gives First, not exact.
func ByDataVersion(dv int32) (p Protocol, exact bool) {
	p = First
	for i, list := range versions {
		for _, v := range list {
			if v.DataVersion <= dv {
				p, exact = First+Protocol(i), v.DataVersion == dv
			}
		}
	}
	return p, exact
}
