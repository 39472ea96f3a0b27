const ws = new WebSocket('ws://localhost:8080/ws');

// 1. Start streaming
ws.send(JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'run',
  params: {prompt: 'Hello', stream: true}
}));

// 2. Handle streaming chunks
ws.onmessage = (event) => {
  const message = JSON.parse(event.data);
  
  if (message.id === 1) {
    // Initial response with stream_id
    console.log('Stream started:', message.result.stream_id);
  } else if (message.method === 'run') {
    // Streaming chunk
    const {params: {seq, delta, end}} = message;
    process.stdout.write(delta);
    if (end) console.log('\\nStream complete');
  }
};
