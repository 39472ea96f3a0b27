const eventSource = new EventSource('/api/sse/message', {
  withCredentials: true
});

eventSource.onmessage = (e) => {
  const event = JSON.parse(e.data);

  switch (event.kind) {
    case 'content-delta':
      appendToUI(event.content);
      break;
    case 'thought-stream':
      showThought(event.thought);
      break;
    case 'task-complete':
      eventSource.close();
      break;
  }
};

eventSource.onerror = (err) => {
  console.error('SSE error:', err);
  eventSource.close();
};
