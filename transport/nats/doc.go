// Package nats keeps the journal of many nodes in NATS JetStream.
//
// [Open] connects to a server or a cluster of one's own; the journal goes into an [actors.Config]. Each node opens its
// own. The runtime above holds the rules of ownership; this package says how JetStream keeps its part:
//
//	stream RUNS      all logs, and the salt in its metadata. A full stream refuses what is new.
//	run.ID.q         the first block of a run: its log, its key and its work item in one write
//	run.ID.e         the other blocks. Each expects the head on run.ID.>, and so at most one follows a head.
//	part.ID.BLOCK.n  the events of a block that is larger than the server's messages
//	claims           a consumer of run.*.q: it lends each run to one node, and again after 10 seconds without a beat
//	lend.NODE        passes a work item to the node that wrote it, which alone may know the job
//	live.ID.q, .e    a copy of each block's header, for readers at every node; live.ID.gone tells of a removed log
//	cmd.ID           a command for the node that owns the run
//	ARTIFACTS        an object store of the files that runs wrote, for nodes that do not share a folder
//
// A header of each block ([mark]) says where the block belongs and what the log adds up to with it, so that a node can
// list runs without reading events. Open requests and labels that do not fit it are at the beginning of the message's
// data, for whoever lists the run. A long id has its hash in the subject, and is itself in the header Lastword-Run: a
// subject is at most 4 kB. A child's id is written with a tilde, p~c1: a dot would put it into its parent's
// filter. A user needs a NATS account for these subjects, and permission for them.
//
// The stream's leader answers what decides: where a log ends, and whether a block is in it. Other events may come from
// any replica, because the head tells whether it lags. A leader that was cut off may answer for some seconds; what it
// says costs a refused block at most. While the servers elect a leader, a read waits for it, and an append fails.
//
// A server tells its clients how many replicas a stream has, and whether the stream is written behind. It does not tell
// when it syncs: with the default, every two minutes, a power cut of one server loses what a stream with one replica
// has acknowledged. Set sync_interval: always on the servers. See [Journal.Warnings].
package nats
