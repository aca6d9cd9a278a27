// A job type for Flamenco 3. Put this file into the folder "scripts" beside flamenco-manager. It runs
// a job that `callboard farm export --flamenco` wrote. Everything about the job is in its folder.
const JOB_TYPE = {
  label: "callboard",
  description: "Calls a callboard tool, many times.",
  settings: [
    { key: "folder", type: "string", subtype: "dir_path", required: true,
      description: "The folder that `callboard farm export --flamenco` wrote." },
    { key: "calls", type: "int32", required: true, description: "The number of calls in the job." },
    { key: "chunk", type: "int32", default: 10, description: "Calls in one task, on one host." },
    { key: "callboard", type: "string", default: "callboard",
      description: "The callboard command on the workers." },
  ],
};

function compileJob(job) {
  const { folder, calls, chunk, callboard } = job.settings;
  if (!(calls >= 1 && chunk >= 1)) {
    throw new Error("calls and chunk must be 1 or more");
  }
  for (let first = 0; first < calls; first += chunk) {
    const last = Math.min(first + chunk, calls) - 1;
    const task = author.Task(`calls ${first}-${last}`, "misc");
    const args = ["farm", "session", "chunk", folder, String(first), String(last)];
    task.addCommand(author.Command("exec", { exe: callboard, args: args }));
    job.addTask(task);
  }
}
