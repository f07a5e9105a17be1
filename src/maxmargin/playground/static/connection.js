// A WebSocket that comes back by itself. What was asked while it was away is asked again by
// whoever listens for "open": nothing is queued here.

const FIRST_WAIT = 250; // milliseconds
const LONGEST_WAIT = 4000;

export class Connection {
  constructor(address) {
    this.address = address;
    this.wait = FIRST_WAIT;
    this.onmessage = () => {};
    this.onstate = () => {};
    this.open();
  }

  open() {
    this.socket = new WebSocket(this.address);
    this.socket.onopen = () => {
      this.wait = FIRST_WAIT;
    };
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "hello") this.onstate(true);
      this.onmessage(message);
    };
    this.socket.onclose = () => {
      this.onstate(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
  }

  /** Whether it was sent. */
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
