/** The styles of all of Mantine that pages use. What is in the second file refines what is in the first. */
import "./mantine-common.css";
import "./mantine-rest.css";
