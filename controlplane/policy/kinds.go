package policy

import "strings"

// set is a set of small enum values, by bit.
type set uint16

const every = ^set(0)

func of[T ~uint8](values ...T) (s set) {
	for _, v := range values {
		s |= 1 << v
	}
	return s
}

func (s set) has(v uint8) bool { return v < 16 && s&(1<<v) != 0 }

// kindOperations says what an effect of each kind can be. A kind that claims another operation contradicts itself: a
// placement that calls itself a read would pass where only reads do.
var kindOperations = [kindCount]set{
	KindWorldRead:  of(OperationRead),
	KindWorldPlace: of(OperationCreate, OperationReplace, OperationDestroy),
	KindWorldBuild: of(OperationCreate, OperationReplace, OperationDestroy, OperationExecute),
	KindActorMove:  of(OperationMove),
	KindActorLook:  of(OperationMove, OperationArrange, OperationRead),
	KindActorEquip: of(OperationArrange),
	KindChatSay:    of(OperationCommunicate),
}

func kindOf(s string) Kind {
	switch s {
	case "world.read":
		return KindWorldRead
	case "world.place":
		return KindWorldPlace
	case "world.build":
		return KindWorldBuild
	case "actor.move":
		return KindActorMove
	case "actor.look":
		return KindActorLook
	case "actor.equip":
		return KindActorEquip
	case "chat.say":
		return KindChatSay
	}
	return KindUnknown
}

func operationOf(s string) Operation {
	switch s {
	case "read":
		return OperationRead
	case "communicate":
		return OperationCommunicate
	case "move":
		return OperationMove
	case "arrange":
		return OperationArrange
	case "create":
		return OperationCreate
	case "replace":
		return OperationReplace
	case "destroy":
		return OperationDestroy
	case "execute":
		return OperationExecute
	}
	return OperationUnknown
}

func ownershipOf(s string) Ownership {
	switch s {
	case "own":
		return OwnershipOwn
	case "public":
		return OwnershipPublic
	case "shared":
		return OwnershipShared
	case "player":
		return OwnershipPlayer
	case "system":
		return OwnershipSystem
	case "unowned":
		return OwnershipUnowned
	}
	return OwnershipUnknown
}

func riskOf(s string) Risk {
	switch s {
	case "low":
		return RiskLow
	case "moderate":
		return RiskModerate
	case "high":
		return RiskHigh
	case "critical":
		return RiskCritical
	}
	return RiskUnknown
}

// classOf tells which of the kernel's five classes a kind or a tag belongs to: by the class's own name, or by what stands
// before the first dot, colon or slash. The zero set is none of them.
func classOf(name string) kernelSet {
	switch name {
	case "arbitrary_code", "arbitrary-code", "code_execution", "code-execution":
		return 1 << kernelCode
	case "file_access", "file-access":
		return 1 << kernelFiles
	case "native_call", "native-call", "native_calls", "native-calls":
		return 1 << kernelNative
	case "authority_forgery", "authority-forgery", "slash_command", "slash-command":
		return 1 << kernelAuthority
	case "secret_exposure", "secret-exposure":
		return 1 << kernelSecret
	}
	space := name
	if i := strings.IndexAny(name, ".:/"); i >= 0 {
		space = name[:i]
	}
	switch space {
	case "code", "script", "shell", "eval", "exec":
		return 1 << kernelCode
	case "file", "files", "fs", "filesystem":
		return 1 << kernelFiles
	case "native", "jni", "ffi", "syscall":
		return 1 << kernelNative
	case "authority", "command", "commands", "operator", "op", "permission", "console", "rcon", "principal":
		return 1 << kernelAuthority
	case "secret", "secrets", "credential", "credentials", "token", "tokens", "password":
		return 1 << kernelSecret
	}
	return 0
}
