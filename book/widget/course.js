// What the book says of its exercises, and of this page. course_book/widget.py makes `hp-course` at the build.

import course from "hp-course";

/** By slug, in the order of the chapters: {title, page, version, max}. */
export const EXERCISES = course;

/** The book's own address: two folders above this script. */
export const ROOT = new URL("../../", import.meta.url).href;

/**
 * This page: {worker, exercises, sections}, the worker's address, the exercises that can be solved here, and the titles
 * of the sections that their checks name, by their addresses.
 */
export const PAGE = {
  worker: "",
  exercises: [],
  sections: {},
  ...JSON.parse(document.getElementById("hp-solve")?.textContent ?? "{}"),
};

/** Return the path of a page inside the book by its address; "" for what is elsewhere. */
export function pageOf(href) {
  const { href: whole } = new URL(href, location.href);
  return whole.startsWith(ROOT) ? whole.slice(ROOT.length).split(/[?#]/)[0] : "";
}
