// The player: asks for steps, keeps the frames, and moves among them. A frame is asked for only
// when the last one has arrived and been drawn, so that a slow page simply gets fewer.

const MOST_FRAMES = 1500; // kept for going back; beyond, every other old one is let go
const PACE = 33; // milliseconds between frames, if that many steps are wanted

export class Player {
  constructor({ ask, onframe }) {
    Object.assign(this, { ask, onframe });
    this.clear();
  }

  clear() {
    this.frames = [];
    this.curves = [];
    this.index = -1;
    this.playing = false;
    this.asking = Promise.resolve(); // what was asked last: the next waits for it
    this.pending = 0; // asked and not yet answered
    this.timer = clearTimeout(this.timer);
    this.problem = null;
    this.listing = [];
    this.run = {}; // an answer that was asked for in an earlier run is dropped
  }

  get frame() {
    return this.frames[this.index] ?? null;
  }

  get ended() {
    const last = this.frames.at(-1);
    return Boolean(last) && last.lanes.every((lane) => lane.ended);
  }

  get atEnd() {
    return this.ended && this.index === this.frames.length - 1;
  }

  get waiting() {
    return this.pending > 0;
  }

  /** Ask when all that was asked before is answered; nothing, if a new run has begun by then. */
  turn(type, request, take) {
    const { run } = this;
    this.pending += 1;
    this.asking = this.asking.then(async () => {
      if (run !== this.run) return;
      const reply = this.ended || this.problem ? null : await this.ask(type, request);
      if (run !== this.run) return;
      this.pending -= 1;
      if (reply?.type === "refused") {
        this.problem = reply.why;
        this.playing = false;
      } else if (reply) take(reply);
      this.onframe();
    });
    return this.asking;
  }

  /** Begin anew; `then` is how many steps to take at once. */
  async start(request, { then = 0, play = this.playing } = {}) {
    this.clear();
    this.playing = play; // at once: whoever presses play or pause before the answer is heard
    const { run } = this;
    await this.turn("start", request, (reply) => {
      this.subject = reply.subject;
      this.listing = reply.listing;
      this.curves = reply.lanes.map(() => []);
      this.keep(reply);
    });
    if (run !== this.run) return;
    if (then) await this.more(then);
    if (run === this.run) this.schedule();
  }

  keep(reply) {
    reply.lanes.forEach((lane, k) => this.curves[k].push(...lane.curves));
    this.frames.push({ lanes: reply.lanes, lengths: this.curves.map((curve) => curve.length) });
    if (this.frames.length > MOST_FRAMES) {
      const half = MOST_FRAMES / 2;
      this.frames = this.frames.filter((_, i) => i === 0 || i >= half || i % 2 === 0);
    }
    this.index = this.frames.length - 1;
  }

  /** One more frame, so many steps later. */
  more(steps) {
    return this.turn("advance", { steps }, (reply) => this.keep(reply));
  }

  async forward(steps = 1) {
    if (this.index < this.frames.length - 1) {
      this.index += 1;
      this.onframe();
    } else await this.more(steps);
  }

  go(index) {
    this.pause();
    this.index = Math.min(Math.max(index, 0), this.frames.length - 1);
    this.onframe();
  }

  play(speed) {
    this.speed = speed;
    this.playing = true;
    this.onframe();
    if (this.frame) this.schedule(); // else `start` does, when there is something to go on from
  }

  pause() {
    this.playing = false;
    this.timer = clearTimeout(this.timer);
    this.onframe();
  }

  schedule() {
    clearTimeout(this.timer);
    if (!this.playing) return;
    const wait = Math.max(1000 / this.speed, PACE);
    this.timer = setTimeout(async () => {
      const { run } = this, begun = performance.now();
      await this.forward(Math.min(Math.max(Math.round((this.speed * wait) / 1000), 1), 1000));
      if (run !== this.run) return;
      if (this.atEnd) return this.pause();
      const drawn = performance.now() - begun;
      if (this.playing) this.timer = setTimeout(() => this.schedule(), Math.max(0, drawn - wait));
    }, wait);
  }
}
