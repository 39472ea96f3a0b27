package supervision

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// indexAbove is the number of children above which a roster has maps. Most actors have few children.
const indexAbove = 16

// child is one incarnation of a child actor, from its start to its Exit.
type child struct {
	name     string
	pid      *actor.PID
	shutdown time.Duration
	timer    *time.Timer // abandons the child
	crash    *Crash
	at       int  // position in roster.list
	ordered  bool // a supervisor: it gets a Shutdown instead of a stop
	asked    bool // the parent asked it to stop
	goodbye  bool // it said goodbye
	ended    bool // the library reported its end, and the Exit is on its way
}

// exit makes the child's Exit.
func (k *child) exit(abandoned bool) *Exit {
	exit := &Exit{Name: k.name, PID: k.pid, Asked: k.asked}
	switch {
	case k.crash != nil && abandoned:
		exit.Err = fmt.Errorf("%w; then %w", k.crash, ErrAbandoned)
	case k.crash != nil:
		exit.Err = k.crash
	case abandoned:
		exit.Err = ErrAbandoned
	case !k.goodbye && !k.asked:
		exit.Err = ErrKilled
	}
	return exit
}

// roster finds children by name and by id. It keeps no order.
type roster struct {
	list         []*child
	byName, byID map[string]*child
}

// add adds a child, and builds the maps when there are many.
func (r *roster) add(k *child) {
	k.at = len(r.list)
	r.list = append(r.list, k)
	switch {
	case r.byName != nil:
		r.byName[k.name], r.byID[k.pid.Id] = k, k
	case len(r.list) > indexAbove:
		r.byName, r.byID = map[string]*child{}, map[string]*child{}
		for _, k := range r.list {
			r.byName[k.name], r.byID[k.pid.Id] = k, k
		}
	}
}

func (r *roster) remove(k *child) {
	last := len(r.list) - 1
	r.list[k.at] = r.list[last]
	r.list[k.at].at = k.at
	r.list[last] = nil
	r.list = r.list[:last]
	delete(r.byName, k.name)
	delete(r.byID, k.pid.Id)
}

// named returns the child with the name, or nil.
func (r *roster) named(name string) *child {
	if r.byName != nil {
		return r.byName[name]
	}
	for _, k := range r.list {
		if k.name == name {
			return k
		}
	}
	return nil
}

// identified returns the child with the PID, or nil.
func (r *roster) identified(pid *actor.PID) *child {
	if r.byID != nil {
		return r.byID[pid.Id]
	}
	for _, k := range r.list {
		if k.pid.Id == pid.Id {
			return k
		}
	}
	return nil
}
