// Package nats stores the journal of several nodes in NATS JetStream.
//
// [Open] connects to a NATS server or cluster. Each node opens its own [Journal] and passes it to the System in an
// [actors.Config]. The runtime enforces the rules of ownership; this package stores what they need:
//
//	stream RUNS      all logs; the metadata holds the salt. A full stream refuses new messages.
//	run.ID.q         the first block of a run: its log, its key and its work item in one write
//	run.ID.s         a block that changes what lists select: the status, the owner, the open requests
//	run.ID.e         the other blocks. Each block expects the head on run.ID.>, so at most one can follow a head.
//	part.ID.BLOCK.n  the events of a block that is too large for one message
//	claims           a consumer of run.*.q: it lends each run to one node, and again after 10 seconds without a beat
//	lend.NODE        passes a work item to the node that wrote it, because only that node may know the job
//	stream LEDGER    the ledgers of ends, without a TTL: a subject ledger.KEY for each key that signs
//	live.ID.q, .s    a copy of the block's header, for all nodes; live.ID.gone tells of a removed log
//	live.ID.e        the same for nodes that have read the run in the last seconds: nobody else pays for a block
//	cmd.ID           a command for the node that owns the run
//	STATE            a key-value bucket without a TTL for what else the nodes share: public keys, marks, pauses
//	stream LINES     logs of lines beside runs, without a TTL: a subject line.FOLDER.NAME for each conversation
//	ARTIFACTS        an object store for the files of runs, for nodes that do not share a folder
//
// A header of each block ([mark]) says where the block belongs, and summarizes the log up to it. So a node can list
// runs without reading events. Open requests and labels that do not fit the header are at the beginning of the
// message's data. A long run id is in the header Lastword-Run, and the subject has its hash, because subjects are
// limited to 4 kB. The dot in a child's id is written as a tilde (p~c1), because a dot would match its parent's filter.
// A user needs a NATS account for these subjects, and permission for them.
//
// Whatever decides is read from the stream's leader: where a log ends, and whether it holds a block. Other events may
// come from any replica, because the head tells whether the replica lags. A deposed leader may answer for some seconds;
// at worst its answer causes a refused block. While the servers elect a leader, reads wait and appends fail.
//
// A server tells its clients how many replicas a stream has, and whether it writes the stream asynchronously. It does
// not tell when it syncs to disk. The default is every two minutes: if a server loses power, a stream with one replica
// loses blocks that were acknowledged. Set sync_interval: always on the servers. See [Journal.Warnings].
package nats
