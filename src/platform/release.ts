/** The release of this code, as package.json has it. Databases keep it beside the migrations that it carried out. */
export const release = "0.2.0";
