/** Policies and explanations in words. */
import type { Policy, PolicyAskRule } from "./policy.ts";
import type { Explanation } from "./policy-explain.ts";

/** One line for each field, also for those that are not set. */
export function policyLines(policy: Policy): string[] {
  const {
    allowed_tools,
    denied_tools,
    allowed_paths,
    denied_paths,
    allowed_apps,
    allowed_ports,
    ask,
    sandbox,
    record_terminals,
    rates,
  } = policy;
  const limited = (list: readonly string[] | undefined) =>
    list === undefined ? "not limited here" : list.join(", ") || "none";
  const but = (list: readonly string[] | undefined) => (list?.length ? `, but not ${list.join(", ")}` : "");
  return [
    `Tools    ${limited(allowed_tools)}${but(denied_tools)}`,
    `Folders  ${limited(allowed_paths)}${but(denied_paths)}`,
    `Apps     ${limited(allowed_apps)}`,
    `Ports    ${allowed_ports ? allowed_ports.join(", ") || "none" : "all for the owner, none for others"}`,
    `Asks     ${ask?.length ? "" : "nobody"}${ask?.map(askWords).join("; ") ?? ""}`,
    `Sandbox  ${sandbox ? "for all commands, the owner's too" : "for commands of AI grants"}`,
    ...(record_terminals ? ["Records  what terminals show"] : []),
    ...(rates ? [`Rates    ${rateWords(rates)}`] : []),
  ];
}

function askWords({ effects, tools, match, except, at }: PolicyAskRule): string {
  const parts = [
    effects ? `before a tool may ${effects.join(" or ")}` : "before any call",
    ...(tools ? [`of ${tools.join(", ")}`] : []),
    ...(match === undefined ? [] : [`that matches ${match}`]),
    ...(except?.length ? [`except ${except.join(", ")}`] : []),
  ];
  return `${at === "machine" ? "a person at the machine" : "a person"} ${parts.join(" ")}`;
}

function rateWords({ messages_per_second, calls_per_minute }: NonNullable<Policy["rates"]>): string {
  return [
    ...(calls_per_minute === undefined ? [] : [`${calls_per_minute} calls per minute`]),
    ...(messages_per_second === undefined ? [] : [`${messages_per_second} messages per second`]),
  ].join(", ");
}

/** The decision in one sentence. */
export function decisionWords({ tool, decision, sandbox, at, reason }: Explanation): string {
  if (decision === "refused") return `Refused: ${reason}`;
  const where = at === "machine" ? "at the machine" : "first";
  const how = sandbox ? ", in the sandbox" : "";
  if (decision === "asked") return `Asked: a person confirms ${tool} ${where}${how}`;
  return `Allowed: no rule refuses ${tool} or asks about it${how}`;
}

/** A row for each rule: who made it, its field, what it says, the entry that fits, whether it decides. */
export function ruleRows({ rules }: Explanation): string[][] {
  return rules.map(({ by, field, says, entry = "", decides }) => [
    by,
    field,
    says,
    entry,
    decides ? "decides" : "",
  ]);
}
