package messages

// Kind implements Body; the types and their kinds stand in the order of [Kinds].

func (RunQueued) Kind() Kind       { return KindRunQueued }
func (RunStarted) Kind() Kind      { return KindRunStarted }
func (RunRecovered) Kind() Kind    { return KindRunRecovered }
func (RunCanceling) Kind() Kind    { return KindRunCanceling }
func (RunCompleted) Kind() Kind    { return KindRunCompleted }
func (RunFailed) Kind() Kind       { return KindRunFailed }
func (RunCanceled) Kind() Kind     { return KindRunCanceled }
func (TaskStarted) Kind() Kind     { return KindTaskStarted }
func (TaskCompleted) Kind() Kind   { return KindTaskCompleted }
func (TaskFailed) Kind() Kind      { return KindTaskFailed }
func (TaskRestarted) Kind() Kind   { return KindTaskRestarted }
func (Progress) Kind() Kind        { return KindProgress }
func (Log) Kind() Kind             { return KindLog }
func (Merged) Kind() Kind          { return KindMerged }
func (TextDelta) Kind() Kind       { return KindTextDelta }
func (TextDone) Kind() Kind        { return KindTextDone }
func (ThoughtDelta) Kind() Kind    { return KindThoughtDelta }
func (ThoughtDone) Kind() Kind     { return KindThoughtDone }
func (LLMStarted) Kind() Kind      { return KindLLMStarted }
func (LLMCompleted) Kind() Kind    { return KindLLMCompleted }
func (ToolStarted) Kind() Kind     { return KindToolStarted }
func (ToolProgress) Kind() Kind    { return KindToolProgress }
func (ToolCompleted) Kind() Kind   { return KindToolCompleted }
func (ArtifactPartial) Kind() Kind { return KindArtifactPartial }
func (ArtifactWritten) Kind() Kind { return KindArtifactWritten }
func (InputRequired) Kind() Kind   { return KindInputRequired }
func (InputReceived) Kind() Kind   { return KindInputReceived }
func (ChildStarted) Kind() Kind    { return KindChildStarted }
func (ChildEnded) Kind() Kind      { return KindChildEnded }
func (StepStarted) Kind() Kind     { return KindStepStarted }
func (StepEnded) Kind() Kind       { return KindStepEnded }
func (FaultInjected) Kind() Kind   { return KindFaultInjected }
func (u Unknown) Kind() Kind       { return u.Type }

func (RunQueued) body()       {}
func (RunStarted) body()      {}
func (RunRecovered) body()    {}
func (RunCanceling) body()    {}
func (RunCompleted) body()    {}
func (RunFailed) body()       {}
func (RunCanceled) body()     {}
func (TaskStarted) body()     {}
func (TaskCompleted) body()   {}
func (TaskFailed) body()      {}
func (TaskRestarted) body()   {}
func (Progress) body()        {}
func (Log) body()             {}
func (Merged) body()          {}
func (TextDelta) body()       {}
func (TextDone) body()        {}
func (ThoughtDelta) body()    {}
func (ThoughtDone) body()     {}
func (LLMStarted) body()      {}
func (LLMCompleted) body()    {}
func (ToolStarted) body()     {}
func (ToolProgress) body()    {}
func (ToolCompleted) body()   {}
func (ArtifactPartial) body() {}
func (ArtifactWritten) body() {}
func (InputRequired) body()   {}
func (InputReceived) body()   {}
func (ChildStarted) body()    {}
func (ChildEnded) body()      {}
func (StepStarted) body()     {}
func (StepEnded) body()       {}
func (FaultInjected) body()   {}
func (Unknown) body()         {}
