import { mount } from "svelte";

import App from "./App.svelte";
import "./app.css";
import { keepToken } from "./api/token";
import { theme } from "./theme.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("The page has no element with the id app.");

keepToken();
theme.apply();
mount(App, { target });
