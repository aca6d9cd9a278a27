// The page's requests to its gateway. The secret came with the link, after the #. The gateway needs
// it in addition to the cookie, because browsers send cookies to this machine's other servers too.

const KEPT = "callboard-page";

export function takeSecret() {
  if (location.hash.length > 20) {
    localStorage.setItem(KEPT, location.hash.slice(1));
    history.replaceState(null, "", "/");
  }
}

function headers(more = {}) {
  return { "Callboard-Page": localStorage.getItem(KEPT) ?? "", ...more };
}

async function checked(answer) {
  if (answer.ok) return answer;
  let detail = `it answered ${answer.status}`;
  try {
    detail = (await answer.json()).detail ?? detail;
  } catch {
    // without a problem document, there is only the status
  }
  throw new Error(detail);
}

export async function get(path, query = {}) {
  const asked = `/page/${path}?${new URLSearchParams(query)}`;
  return checked(await fetch(asked, { headers: headers(), cache: "no-store" }));
}

export async function act(about, what, id) {
  const body = JSON.stringify({ do: what, id, instance: about?.name, instance_id: about?.id });
  const answer = await fetch("/page/act", {
    method: "POST",
    headers: headers({ "Content-Type": "application/json" }),
    body,
  });
  return (await checked(answer)).json();
}

// Receives every event while the gateway is running. `changed` receives "live", "lost", and finally
// "closed" with the reason, once this browser no longer has access.
export async function follow(heard, changed) {
  for (;;) {
    try {
      const answer = await fetch("/page/events", { headers: headers(), cache: "no-store" });
      if (answer.status === 401 || answer.status === 403) {
        changed("closed", (await answer.json()).detail);
        return;
      }
      changed("live");
      await read((await checked(answer)).body.getReader(), heard);
    } catch {
      // The gateway is gone, or the machine was asleep: try again below.
    }
    changed("lost");
    await new Promise((done) => setTimeout(done, 1000));
  }
}

async function read(reader, heard) {
  const decoder = new TextDecoder();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (waiting + decoder.decode(value, { stream: true })).split("\n\n");
    waiting = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((one) => one.startsWith("data:"));
      if (data.length) heard(JSON.parse(data.map((one) => one.slice(5)).join("\n")));
    }
  }
}
