// The counts of workerd with D1, against the same evaluator.
process.env.METERING_TARGET = "workerd";
process.env.REQUESTS ??= "300";
await import("../property/metering.test.js");
