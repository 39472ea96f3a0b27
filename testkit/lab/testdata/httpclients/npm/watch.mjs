// Follows a run with one client and prints its events, one JSON object a line: node watch.mjs CLIENT SERVER RUN READER
import { EventSource } from "eventsource";
import WebSocket from "ws";

const [, , client, server, run, reader] = process.argv;
const print = (event) => process.stdout.write(JSON.stringify(event) + "\n");
const ended = (event) => ["run.completed", "run.failed", "run.canceled"].includes(event.type);

const clients = {
  async reader() {
    const { readRun } = await import(reader);
    for await (const event of readRun(server, run)) print(event);
  },
  eventsource: () =>
    new Promise((resolve) => {
      const source = new EventSource(`${server}/v1/runs/${run}/events`);
      const seen = (message) => {
        const event = JSON.parse(message.data);
        print(event);
        if (!ended(event)) return;
        source.close();
        resolve();
      };
      for (const kind of process.env.KINDS.split(",")) source.addEventListener(kind, seen);
    }),
  // A cut connection is opened again with the cursor, as docs/http.md says.
  ws: () =>
    new Promise((resolve) => {
      let after = 0;
      const connect = () => {
        const socket = new WebSocket(`${server.replace("http", "ws")}/v1/ws`);
        socket.on("open", () => socket.send(JSON.stringify({ op: "subscribe", id: "a", run, after, credit: 16 })));
        socket.on("error", () => {});
        socket.on("close", () => setTimeout(connect, 50));
        socket.on("message", (data) => {
          const message = JSON.parse(data);
          for (const event of message.events ?? []) print(event);
          if (message.cursor !== undefined) after = message.cursor;
          if (message.events) socket.send(JSON.stringify({ op: "ack", id: "a", events: message.events.length }));
          if (message.op !== "end") return;
          socket.removeAllListeners("close");
          socket.close();
          resolve();
        });
      };
      connect();
    }),
};

setInterval(() => {}, 1000); // eventsource does not keep the process alive while it waits to come back
await clients[client]();
process.exit(0);
