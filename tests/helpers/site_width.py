"""Which pages of a built site are wider than their screen, measured by Chromium without a window."""

import html
import json
import re
import subprocess
from pathlib import Path

WIDTHS = (390, 1440)  # a phone, and a laptop
SCRIPT = """
<body><script>
const wide = [];
let measured = 0;
async function measure(pages, widths) {
  for (const width of widths) {
    const frame = document.createElement("iframe");
    frame.style.cssText = `border: 0; width: ${width}px; height: 800px`;
    document.body.append(frame);
    for (const page of pages) {
      await new Promise((loaded) => { frame.onload = loaded; frame.src = page; });
      const inner = frame.contentDocument;
      for (const scheme of ["default", "slate"]) {
        inner.body.setAttribute("data-md-color-scheme", scheme);
        measured += 1;
        const [has, needs] = [inner.documentElement.clientWidth, inner.documentElement.scrollWidth];
        if (has !== width || needs > has) wide.push(`${page}: ${needs} of ${width} px, ${scheme}`);
      }
    }
    frame.remove();
  }
  document.body.innerHTML = "<pre id=found></pre>";
  document.getElementById("found").textContent = JSON.stringify({ measured, wide });
}
measure(PAGES, WIDTHS);
</script></body>
"""


def measured(browser: str, site: Path) -> tuple[int, list[str]]:
    """How many pages were measured, at all widths in light and dark, and those that are wider."""
    pages = [page.relative_to(site).as_posix() for page in sorted(site.rglob("index.html"))]
    harness = site / "measure.html"
    harness.write_text(SCRIPT.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS)))
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--hide-scrollbars")
    command = [browser, *flags, "--virtual-time-budget=10000000", "--dump-dom", harness.as_uri()]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    harness.unlink()
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stdout[-500:] + done.stderr[-500:]
    said = json.loads(html.unescape(found[1]))
    return said["measured"], said["wide"]
