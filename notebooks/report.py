import chatkit
client = chatkit.connect()
print(len(client.contacts.frame()))