/** Work that waits, by domain. The domains take turns, so that none waits until all work of another is done. */
export class Turns<Work> {
  private readonly length: number;
  /** In the order of the next turns. */
  private readonly waiting = new Map<string, Work[]>();
  private turn: { domain: string; endsAt: number } | undefined;

  /** @param length of a turn, in the unit of `now` */
  constructor(length: number) {
    this.length = length;
  }

  /** Adds work behind what waits of its domain. */
  add(domain: string, work: Work): void {
    const others = this.waiting.get(domain);
    if (others) others.push(work);
    else this.waiting.set(domain, [work]);
  }

  /** Takes the next work of the domain whose turn it is: of the next domain if the turn is over, or no work is left for it. */
  next(now: number): Work | undefined {
    const works = this.worksOfTurn(now) ?? this.changeTurn(now);
    const work = works?.shift();
    if (this.turn && works?.length === 0) this.waiting.delete(this.turn.domain);
    return work;
  }

  isOver(now: number): boolean {
    return this.turn === undefined || now >= this.turn.endsAt;
  }

  private worksOfTurn(now: number): Work[] | undefined {
    return this.turn && !this.isOver(now) ? this.waiting.get(this.turn.domain) : undefined;
  }

  private changeTurn(now: number): Work[] | undefined {
    const { domain: last = '' } = this.turn ?? {};
    const left = this.waiting.get(last);
    if (this.waiting.delete(last) && left) this.waiting.set(last, left); // becomes the last one
    const [[domain, works] = []] = this.waiting;
    this.turn = domain === undefined ? undefined : { domain, endsAt: now + this.length };
    return works;
  }
}
