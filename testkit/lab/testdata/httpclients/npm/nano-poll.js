// 1. Start streaming
const response = await fetch('/mcp', {
  method: 'POST',
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'run', 
    params: {prompt: 'Hello', stream: true}
  })
});
const {result: {stream_id}} = await response.json();

// 2. Poll for chunks
let seq = 0;
while (true) {
  const pollResponse = await fetch('/mcp', {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 2,
      method: 'run',
      params: {stream_id, from_seq: seq}
    })
  });
  
  const {result: {chunks, has_more}} = await pollResponse.json();
  
  for (const chunk of chunks) {
    process.stdout.write(chunk.delta);
    seq = chunk.seq + 1;
    if (chunk.end) break;
  }
  
  if (!has_more) break;
  await sleep(100); // Polling interval
}
