import express from "express";

/** What an application may have put in front of a handler. */
export const expressParsers = {
  "without a parser": null,
  "behind express.json()": express.json(),
  "behind express.raw()": express.raw({ type: "*/*" }),
  "behind express.text()": express.text({ type: "*/*" }),
};
