// Node runs the client as it is, which needs the extension in imports.
export default { output: { path: 'client', module: { extension: '.js' } } };
