package hodl

import "time"

// EventType names an occurrence of a session that webhooks announce.
type EventType string

const (
	SessionHeld      EventType = "session.held"
	SessionShared    EventType = "session.shared"
	SessionResumed   EventType = "session.resumed"
	SessionHandedOff EventType = "session.handed_off"
)

// An Event is written in the transaction of what it announces. It holds no
// content.
type Event struct {
	ID        EventID
	Type      EventType
	Workspace WorkspaceID
	Mode      Mode
	Session   SessionID
	Token     TokenID // of session.shared and session.handed_off
	At        time.Time
}
