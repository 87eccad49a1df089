// The answers of one item, to undo and redo changes.

const MOST_STEPS = 500;

export class History {
  /** @param show called with every answer that becomes the current one, and with options. */
  constructor(show) {
    this.show = show;
    this.past = [];
    this.future = [];
    this.answer = null;
    this.first = null;
  }

  /** Forget everything and start with an answer; null means none. Clear goes to the first one. */
  reset(answer, { keepFirst = false } = {}) {
    this.past = [];
    this.future = [];
    this.answer = answer;
    if (!keepFirst) this.first = answer;
    this.show(answer);
  }

  get canUndo() {
    return this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }

  /** Make an answer the current one; null means the first. */
  change(answer, options = {}) {
    this.past.push(this.answer);
    if (this.past.length > MOST_STEPS) this.past.shift();
    this.future = [];
    this.answer = answer ?? this.first;
    this.show(this.answer, options);
  }

  undo() {
    if (!this.canUndo) return;
    this.future.push(this.answer);
    this.answer = this.past.pop();
    this.show(this.answer);
  }

  redo() {
    if (!this.canRedo) return;
    this.past.push(this.answer);
    this.answer = this.future.pop();
    this.show(this.answer);
  }
}
