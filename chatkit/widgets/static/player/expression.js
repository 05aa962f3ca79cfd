// Expressions: references like ${form.x}, what stands in backticks, the condition of an If.
// They are read and worked out by hand: a document is never run as code. The results are those
// of flowjson/evaluation.py, which has the same rules in Python.

const PATH = /\$\{(?:screen\.([^.{}`']*)\.)?(data|form)\.([\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*)\}/gu;
const TOKEN = /\s*(?:(\$\{[^{}]*\})|'((?:\\.|[^'\\])*)'|(\d+(?:\.\d+)?)(?![\p{L}\p{N}_.])|(true|false)(?![\p{L}\p{N}_])|(==|!=|<=|>=|&&|\|\||[-+*/%!<>()]))/suy;
const RANK = { "||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7 };
const ADJACENT = 1; // two values side by side are joined as text, after all else

const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isNumber = (value) => typeof value === "number";
const isEmpty = (value) => value === undefined || value === null || value === "";
const number = (value) => {
  if (isNumber(value) || typeof value === "boolean") return Number(value);
  return typeof value === "string" && value.trim() ? Number(value) : 0;
};
const numeric = (value) => isNumber(value) || (typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value));
// Whether a value counts as true: what is empty does not.
const truth = (value) => (value !== null && typeof value === "object" ? Object.keys(value).length > 0 : value !== value || Boolean(value));
const same = (a, b) => {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (isNumber(a) || isNumber(b)) return number(a) === number(b);
  return JSON.stringify(a) === JSON.stringify(b);
};
const before = (a, b, test) => (isNumber(a) || isNumber(b)) && !isEmpty(a) && !isEmpty(b) && test(number(a), number(b));
// The platform keeps two digits.
const rounded = (value) => (Number.isInteger(value) || !Number.isFinite(value) ? value : Math.floor(value * 100 + 0.5) / 100);
const APPLY = {
  "||": (a, b) => truth(a) || truth(b),
  "&&": (a, b) => truth(a) && truth(b),
  "==": same,
  "!=": (a, b) => !same(a, b),
  "<": (a, b) => before(a, b, (x, y) => x < y),
  "<=": (a, b) => before(a, b, (x, y) => x <= y),
  ">": (a, b) => before(a, b, (x, y) => x > y),
  ">=": (a, b) => before(a, b, (x, y) => x >= y),
  "+": (a, b) => rounded(number(a) + number(b)),
  "-": (a, b) => rounded(number(a) - number(b)),
  "*": (a, b) => rounded(number(a) * number(b)),
  "/": (a, b) => (number(b) === 0 ? 0 : rounded(number(a) / number(b))),
  "%": (a, b) => (number(b) === 0 ? 0 : rounded(number(a) % number(b))),
};

// What a person reads of a value.
const asText = (value) => {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

// What a reference leads to; only what the data itself has, never what objects inherit.
const own = (value, key) => (isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined);
const lookup = ([, screen, store, path], scope) =>
  [store, ...path.split(".")].reduce(own, screen === undefined ? scope : own(scope.screen, screen));
const whole = (text) => {
  PATH.lastIndex = 0;
  const match = PATH.exec(text);
  return match?.[0].length === text.length ? match : null;
};

const tokens = (text) => {
  const tokens = [];
  const end = text.trimEnd().length;
  for (let from = 0; from < end; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`it cannot be read from ${text.slice(from, from + 12).trim()} on`);
    const [, reference, quoted, digits, flag, sign] = match;
    if (reference) {
      const path = whole(reference);
      if (!path) throw new Error(`${reference} is not a reference`);
      tokens.push({ path });
    } else if (quoted !== undefined) tokens.push({ value: quoted.replace(/\\(.)/gsu, "$1") });
    else if (digits) tokens.push({ value: Number(digits) });
    else tokens.push(flag ? { value: flag === "true" } : { sign });
  }
  return tokens;
};

// Work out an expression, without its backticks; throws what is wrong with it.
const evaluate = (text, scope) => {
  const list = tokens(text);
  let at = 0;
  let depth = 0;
  const operand = () => {
    const token = list[at++];
    if (!token) throw new Error("it ends too early");
    if (token.path) return lookup(token.path, scope);
    if ("value" in token) return token.value;
    if (++depth > 500) throw new Error("it is nested too deep");
    let value;
    if (token.sign === "!") value = !truth(operand());
    else if (token.sign === "-") value = -number(operand());
    else if (token.sign === "+") value = operand();
    else if (token.sign === "(") {
      value = climb(ADJACENT);
      if (list[at++]?.sign !== ")") throw new Error("a bracket is not closed");
    } else throw new Error(`${token.sign} has nothing before it`);
    depth--;
    return value;
  };
  const climb = (least) => {
    let left = operand();
    for (;;) {
      const token = list[at];
      const isOperand = token && (!token.sign || token.sign === "(" || token.sign === "!");
      const rank = isOperand ? ADJACENT : RANK[token?.sign];
      if (!rank || rank < least) return left;
      if (!isOperand) at++;
      const right = climb(rank + 1);
      if (token.sign === "+" && [left, right].some((one) => Number.isNaN(number(one)))) {
        scope.doubt?.(`In ${text} a + stands between texts. It adds numbers only: to join texts leave a space.`);
      }
      left = isOperand ? asText(left) + asText(right) : APPLY[token.sign](left, right);
    }
  };
  const value = climb(ADJACENT);
  if (at < list.length) throw new Error(`${list[at].sign} stands where it should end`);
  return value;
};

const quoted = /^`([^]*)`$/;
// The value of a property: its references and expressions replaced, all else as it is.
// What cannot be worked out is told to `scope.doubt`, and stays as it was written.
const resolve = (value, scope) => {
  if (Array.isArray(value)) return value.map((one) => resolve(one, scope));
  if (isMap(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one, scope)]));
  if (typeof value !== "string") return value;
  const expression = quoted.exec(value);
  if (expression) {
    try {
      return evaluate(expression[1], scope);
    } catch (error) {
      scope.doubt?.(`The expression ${value} was left as it is: ${error.message}.`);
      return value;
    }
  }
  const alone = whole(value);
  return alone ? lookup(alone, scope) : value.replace(PATH, (...match) => asText(lookup(match, scope)));
};

// The condition of an If, with or without its backticks.
const holds = (condition, scope) => {
  if (typeof condition !== "string") return truth(condition);
  try {
    return truth(evaluate(quoted.exec(condition)?.[1] ?? condition, scope));
  } catch (error) {
    scope.doubt?.(`The condition ${condition} is taken as false: ${error.message}.`);
    return false;
  }
};
