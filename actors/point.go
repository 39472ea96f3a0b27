package actors

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/messages"
)

// Point is a place where a test may inject a fault: the beginning of an actor's turn, or a step of a task's work.
type Point struct {
	System *System
	Run    messages.RunID
	// Actor is the task's name, or "run" for the run's actor.
	Actor string
	// Name says where: one of the names below, or, before a task says an event, the event's kind.
	Name string
	// Attempt is the number of the task's attempt; 0 in an actor's turn.
	Attempt int
	// Message is what the actor is about to handle; nil in a task's work.
	Message any
	// Task and Context are those of the work; nil in an actor's turn.
	Task    *TaskContext
	Context context.Context

	record func(emission)
	err    *error
}

// The names of points: an actor's turn by what it handles, and a task's work.
const (
	ActorStarted  = "actor started"
	ActorStopping = "actor stopping"
	ActorStopped  = "actor stopped"
	ActorTurn     = "actor turn"
	WorkBegins    = "work begins"
	WorkReturns   = "work returns"
)

// Fail has the work, or what the task says, fail with the error in place of going on. In an actor's turn it panics.
func (p Point) Fail(err error) {
	if p.err == nil {
		panic(err)
	}
	*p.err = err
}

// Record says in the run's log that a fault is injected here. An attempt that fails after that has the cause injected,
// and so has a run whose own actor fails.
func (p Point) Record(fault string) {
	b := messages.FaultInjected{Fault: fault, Point: p.Name}
	if p.Actor != runName {
		b.Task = p.Actor
	}
	p.record(emission{body: b, message: "injected: " + fault})
}

const runName = "run"

func turnName(message any) string {
	switch message.(type) {
	case *actor.Started:
		return ActorStarted
	case *actor.Stopping:
		return ActorStopping
	case *actor.Stopped:
		return ActorStopped
	}
	return ActorTurn
}
